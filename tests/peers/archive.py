# SPDX-License-Identifier: MIT
"""Unpacks the source archive of a package of PyPI, without building it: archive.py NAME==VERSION DIRECTORY"""
import io
import os
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request


def index_of_pip():
    """The one that pip would ask: of the environment, of its files, or its own."""
    said = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False)
    if url := os.environ.get("PIP_INDEX_URL") or said.stdout.strip():
        return url
    from pip._internal.models.index import PyPI
    return PyPI.simple_url


name, version = sys.argv[1].split("==")
index = index_of_pip().rstrip("/")
with urllib.request.urlopen(f"{index}/{name}/") as page:
    links = re.findall(r'href="([^"#]+)', page.read().decode())
link = next(link for link in links if link.endswith(f"-{version}.tar.gz"))
with urllib.request.urlopen(urllib.parse.urljoin(f"{index}/{name}/", link)) as archive:
    with tarfile.open(fileobj=io.BytesIO(archive.read())) as tar:
        tar.extractall(sys.argv[2], filter="data")
