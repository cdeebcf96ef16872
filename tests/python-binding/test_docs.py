# SPDX-License-Identifier: MIT
"""Examples of docstrings and of docs/python.md run; what users see is described, and has types that mypy accepts."""
import ast
import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys

import pytest
import tamis
from tamis import _tamis

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "python.md")
COMPAT = [importlib.import_module("tamis.compat." + name) for name in ("rbloom", "pybloom_live")]


def documented():
    yield "tamis", tamis
    for module in COMPAT:
        yield module.__name__, module
    classes = [tamis.Filter, _tamis.Base, tamis.Builder, tamis.Column, *(c for m in COMPAT for c in vars(m).values() if inspect.isclass(c) and not c.__name__.startswith("_"))]
    for owner in (*classes, tamis, *COMPAT):
        for name, value in vars(owner).items():
            if not name.startswith("_") and (callable(value) or isinstance(value, (property, classmethod)) or inspect.isdatadescriptor(value)):
                yield f"{owner.__name__}.{name}", value


def test_examples_of_docstrings():
    runner, n = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), 0
    said = []
    for name, thing in documented():
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing) or "", {"tamis": tamis}, name, None, None)
        runner.run(test, out=said.append)
        n += len(test.examples)
    assert runner.failures == 0, "".join(said)
    assert n > 60


def test_everything_is_described():
    assert [name for name, thing in documented() if not inspect.getdoc(thing)] == []


def test_the_stub_names_what_there_is():
    with open(os.path.join(os.path.dirname(tamis.__file__), "__init__.pyi"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    named = {node.name: node for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    public = {name for name in tamis.__all__ if name not in tamis._errors.__all__} | set(tamis._errors.__all__)
    assert {name for name in named if not name.startswith("_")} == public
    for name in ("Filter", "Builder"):
        cls = getattr(tamis, name)
        methods = {node.name for node in named[name].body if isinstance(node, ast.FunctionDef)}
        there = {m for m in dir(cls) if not m.startswith("_")}
        assert {m for m in methods if not m.startswith("_")} == there
    for name in ("Info", "Plan", "Kind", "Option", "Format", "Estimate"):
        fields = [node.target.id for node in named[name].body if isinstance(node, ast.AnnAssign)]
        members = [m for m in vars(getattr(tamis, name)).get("__match_args__", ())]
        assert fields == members, name


def test_mypy_accepts(tmp_path):
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text("import tamis\n\nf = tamis.Filter(capacity=10, fpr=0.01)\nf.add('a')\nf.update([1, 2], range(3))\nok: bool = 'a' in f\n"
                       "g: tamis.Filter = f | f\nn: int = len(g) + f.count('a')\nb = tamis.Builder('fuse')\nh: tamis.Filter = b.finish()\n"
                       "rate: float = h.info().fpr_now\nview = memoryview(f)\n", encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import tamis\n\ntamis.Filter(capacity=[])\ntamis.Filter().add(None)\nx: str = tamis.Filter().info().items\n", encoding="utf-8")
    run = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", str(tmp_path), "--python-version", "3.12"]
    done = subprocess.run([*run, str(program)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr
    done = subprocess.run([*run, str(wrong)], capture_output=True, text=True, check=False)
    assert done.stdout.count("error:") == 3, done.stdout


def test_import_is_light():
    """Importing tamis brings no other module along but os, which every program has."""
    done = subprocess.run([sys.executable, "-S", "-E", "-c", f"import sys; sys.path.insert(0, {os.path.dirname(os.path.dirname(tamis.__file__))!r}); "
                           "before = set(sys.modules); import os; import tamis; print(sorted(m for m in set(sys.modules) - before if m.split('.')[0] != 'tamis'))"],
                          capture_output=True, text=True, check=True)
    extra = set(ast.literal_eval(done.stdout))
    assert extra <= {"os", "stat", "_stat", "posixpath", "genericpath", "os.path", "_collections_abc", "abc", "_abc", "builtins"}, extra


def test_the_page(tmp_path, monkeypatch):
    """Every block is run, in order and in one session, and prints what is shown; blocks of the shell are commands."""
    monkeypatch.chdir(tmp_path)
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    needs = [name for name in ("numpy", "polars", "pyarrow", "pandas") if name in text]
    for name in needs:
        pytest.importorskip(name)
    names, n = {"__name__": "page"}, 0
    runner, said = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), []
    bin_dir = tmp_path / "bin"
    bin_dir.mkdir()
    (bin_dir / "tamis").symlink_to(os.environ["TAMIS"])
    for kind, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        if kind == "python":
            test = doctest.DocTestParser().get_doctest(block, names, "page", PAGE, 0)
            assert test.examples, block
            runner.run(test, out=said.append, clear_globs=False)
            names = test.globs
            n += len(test.examples)
        else:
            assert kind == "console", kind
            for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
                done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                                      env={**os.environ, "LC_ALL": "C", "PATH": f"{bin_dir}:{os.environ['PATH']}"})
                assert done.stdout == output, command
    assert runner.failures == 0, "".join(said)
    assert n > 30
