# SPDX-License-Identifier: MIT
"""Unpacks the source archive of a package of PyPI, without building it: archive.py NAME==VERSION DIRECTORY"""
import io
import os
import re
import sys
import tarfile
import urllib.parse
import urllib.request

name, version = sys.argv[1].split("==")
index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
with urllib.request.urlopen(f"{index}/{name}/") as page:
    links = re.findall(r'href="([^"#]+)', page.read().decode())
link = next(link for link in links if link.endswith(f"-{version}.tar.gz"))
with urllib.request.urlopen(urllib.parse.urljoin(f"{index}/{name}/", link)) as archive:
    with tarfile.open(fileobj=io.BytesIO(archive.read())) as tar:
        tar.extractall(sys.argv[2], filter="data")
