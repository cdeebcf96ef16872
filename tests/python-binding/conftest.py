# SPDX-License-Identifier: MIT
"""What tests of the Python module share: every kind with a spec for a few keys, and the command."""
import os
import subprocess

import hypothesis
import pytest
import tamis

hypothesis.settings.register_profile("house", derandomize=True, deadline=None, database=None, max_examples=60,
                                     suppress_health_check=list(hypothesis.HealthCheck))
hypothesis.settings.load_profile("house")

# Options without which a kind cannot be planned, or holds nothing.
NEEDS = {"bloomier": ",value=16", "approximator": ",value=16", "shard": ",layout=blocked,shard=0,shards=1", "window": ",by=adds",
         "iblt": "", "fingerprint": None, "minhash": ""}


def spec_of(kind, capacity=500):
    """A spec of a kind for so many keys; None for kinds that hold no keys."""
    more = NEEDS.get(kind.name, "")
    if more is None:
        return None
    if not {"add", "built"} & kind.abilities:
        return None
    for spec in (f"{kind.name}:capacity={capacity},fpr=1%{more}", f"{kind.name}:capacity={capacity}{more}", kind.name):
        try:
            tamis.plan(spec)
            return spec
        except tamis.Error:
            continue
    return None


def kinds_with(*abilities, without=("sketch",)):
    """Specs of all kinds that can do that, and do not do the other."""
    for kind in tamis.kinds():
        spec = spec_of(kind)
        if spec and set(abilities) <= tamis.plan(spec).abilities and not set(without) & tamis.plan(spec).abilities:
            yield spec


@pytest.fixture
def command(tmp_path):
    """Runs the command in a directory of the test, with lines as its input."""
    def run(*words, lines=None):
        return subprocess.run([os.environ["TAMIS"], *words], cwd=tmp_path, input=lines, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=60)
    return run
