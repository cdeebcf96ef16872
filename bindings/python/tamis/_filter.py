# SPDX-License-Identifier: MIT
"""The class Filter: what is quick is in C (Base); here is what needs files, pickles and pictures."""
import os
import sys

from . import _tamis
from ._tamis import Base, Builder, Info


def _in_library_of(keys, column):
    """The answers about an array as an array of the same library, if that is one of those below."""
    name = type(keys).__module__.partition(".")[0]
    if name == "polars":
        return sys.modules["polars"].Series(column)
    if name == "pyarrow":
        return sys.modules["pyarrow"].array(column)
    if name in ("numpy", "pandas"):
        return sys.modules["numpy"].asarray(column)
    return column


class Filter(Base):
    """Filter(spec=None, *, capacity=None, fpr=None, secret=None, max_bytes=None, threads=None, **options)

    An empty filter. The spec is a text such as "blocked:capacity=1M,fpr=1%"; capacity, fpr and all
    other options of a spec may be given by name too. Without a kind it is blocked.

    >>> tamis.Filter("cuckoo", capacity=1000, fpr=0.001).spec
    'cuckoo:capacity=1000,fpr=1/1000'

    f.add(key), f.update(keys), key in f, f.has_many(keys), f.remove(key), f.count(key), f[key]
    f | g, f & g, f |= g, f &= g        unions and intersections, also of two sizes
    f == g                              the same bytes
    len(f)                              adds so far, removes taken off
    bytes(f), memoryview(f)             the image; Filter.from_bytes and Filter.view read it
    f.save(path)                        Filter.read and Filter.map
    pickle, copy, deepcopy              by bytes; a mapped filter by its path

    Any number of threads may use one filter.
    """

    __slots__ = ()

    # ---- Making and reading

    @classmethod
    def build(cls, keys, spec=None, /, **options):
        """A filter of all keys, sized for them when there is no capacity.

        >>> f = tamis.Filter.build(["ant", "bee"], "ribbon", fpr=0.001)
        >>> "bee" in f, f.kind
        (True, 'ribbon')
        """
        builder = Builder(spec, **options)
        builder.update(keys)
        return cls._as(builder.finish())

    @classmethod
    def _as(cls, made):
        return made if type(made) is cls else cls.from_bytes(bytes(made))

    @classmethod
    def read(cls, path, *, format=None, keys=None, **options):
        """A filter from a file, ready to change: an image, or what another system wrote.

        format names the other system, with parameters after it: "guava", "parquet:column=name".
        keys names the encoding of its keys where they are not texts or bytes: "int64", "utf16", ...
        """
        if format is None:
            made = cls._read(path, **options)
        else:
            with open(path, "rb") as file:
                made = cls.import_bytes(file.read(), format, **options)
        if keys is not None:
            made.set_note("encoding", keys)
        return made

    @classmethod
    def import_bytes(cls, data, format, /, *, keys=None, **options):
        """A filter from what another system wrote, in memory: see read."""
        made = cls._import(data, format, **options)
        if keys is None and "encoding" not in made.notes:
            name, _, params = format.partition(":")
            wanted = set(filter(None, params.split(",")))
            known = {one["keys"] for one in _tamis.scan(data, name) if wanted <= set(one["choose"].split(","))}
            keys = known.pop() if len(known) == 1 else None
        if keys is not None:
            made.set_note("encoding", keys)
        return made

    @classmethod
    def map(cls, path, *, secret=None, trusted=False):
        """A read-only filter on a mapped file, which all processes of a machine share.

        Whoever changes the file must replace it, as save does. A file that was checked before and that
        nobody could change since may be `trusted`: then mapping it takes no time.
        """
        return cls._map(os.path.abspath(os.fspath(path)), secret=secret, trusted=trusted)

    # ---- Many keys

    def has_many(self, keys, out=None):
        """Ask about many keys at once.

        A list of bools for lists and other iterables; a numpy array for those of numpy and columns of
        pandas; a column of the same library for pyarrow and polars; tamis.Column for other arrays. A null
        is null, and False where there is none (numpy, pandas). `out`: an array of as many bools to write to.

        >>> tamis.Filter.build([1, 2, 3]).has_many(range(5))
        [False, True, True, True, False]
        """
        got = Base.has_many(self, keys, out)
        return got if out is not None or type(got) is list else _in_library_of(keys, got)

    def count_many(self, keys, /):
        """The count of each of many keys: a list, or an array as of has_many."""
        got = Base.count_many(self, keys)
        return got if type(got) is list else _in_library_of(keys, got)

    def get_many(self, keys, /, default=None):
        """The value of each of many keys in a map: a list, or an array as of has_many.

        Keys without a value are `default`: None or null, and 0 in arrays of numpy.

        >>> m = tamis.Filter("approximator:capacity=100,value=8")
        >>> m["cat"] = 7
        >>> m.get_many(["cat", "dog"])
        [7, None]
        """
        got = Base.get_many(self, keys)
        if type(got) is list:
            return got if default is None else [default if value is None else value for value in got]
        valid, made = got.valid(), _in_library_of(keys, got)
        if default is not None and type(made).__module__ == "numpy" and valid is not None:
            numpy = sys.modules["numpy"]
            made = numpy.where(numpy.frombuffer(valid, bool), made, numpy.uint64(default))
        return made

    # ---- Sets

    def __or__(self, other):
        """The filter of both sets, a new one."""
        if not isinstance(other, Base):
            return NotImplemented
        both = self.copy()
        both.merge(other)
        return both

    def __ior__(self, other):
        if not isinstance(other, Base):
            return NotImplemented
        self.merge(other)
        return self

    def __and__(self, other):
        """The filter of what both have, a new one."""
        if not isinstance(other, Base):
            return NotImplemented
        both = self.copy()
        both.intersect(other)
        return both

    def __iand__(self, other):
        if not isinstance(other, Base):
            return NotImplemented
        self.intersect(other)
        return self

    union = __or__
    intersection = __and__

    def similarity(self, other, /):
        """tamis.similarity of both."""
        return _tamis.similarity(self, other)

    # ---- Copies and pickles

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __reduce_ex__(self, protocol):
        if self.path is not None:
            return type(self).map, (self.path,)
        if protocol >= 5:
            from pickle import PickleBuffer
            return type(self).from_bytes, (PickleBuffer(self),)
        return type(self).from_bytes, (bytes(self),)

    # ---- Pictures

    def __repr__(self):
        return f"<tamis.Filter {self.spec} with {len(self):,} items>"

    def _repr_html_(self):
        from ._picture import html
        return html(self)


_tamis._use_filter(Filter)
Filter.__module__ = "tamis"
