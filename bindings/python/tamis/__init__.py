# SPDX-License-Identifier: MIT
"""One sieve for every set: Bloom filters and their family.

A filter answers one question about a set of keys: is this key in it? *No* is certain; *yes* is wrong
with a small probability that you choose. It takes about ten bits per key, whatever the keys are.

>>> import tamis
>>> f = tamis.Filter(capacity=1_000_000, fpr=0.01)
>>> f.add("cat")
>>> f.update(["dog", "cow"])
>>> "cat" in f, "unicorn" in f
(True, False)
>>> f.has_many(["cat", "unicorn", "cow"])
[True, False, True]

Keys are str (their UTF-8), bytes, or ints from -2**63 to 2**64-1. Batches are lists and other
iterables, numpy arrays, and columns of pyarrow, polars and pandas.

    Filter              makes, loads, maps and asks filters
    Builder             makes them from a stream of keys: the smallest kinds, maps, labels
    plan, kinds         what a filter would cost; what there is
    formats, scan       filters of other systems: Guava, Parquet, Redis, ...
    similarity, overlap, differences            two filters compared
    Error               and its classes, one for each way to fail
    tamis.compat        classes shaped like those of rbloom and pybloom_live

The bytes are the same everywhere: `python -m tamis` is the command, and Redis, PostgreSQL and C
programs read the files. See docs/python.md.
"""
from . import _errors, _tamis
from ._errors import *
from ._filter import Filter, Info
from ._tamis import (Builder, Column, Estimate, Format, Kind, Option, Plan, cpu, difference_size, differences, formats, kinds,
                     overlap, plan, scan, similarity)

__version__ = _tamis.version()
__all__ = ["Builder", "Column", "Estimate", "Filter", "Format", "Info", "Kind", "Option", "Plan", "cpu", "difference_size",
           "differences", "formats", "kinds", "overlap", "plan", "scan", "similarity", *_errors.__all__]
