# SPDX-License-Identifier: MIT
"""Exceptions: one class for each status of the library; all are tamis.Error."""


class Error(Exception):
    """A call of the library failed. The message says which parameter, what is allowed, or which byte."""

    status = 0

    def __str__(self):
        return Exception.__str__(self)


def _make(name, status, doc, *bases):
    return type(name, (Error, *bases), {"__module__": "tamis", "__doc__": doc, "status": status})


NoMemoryError = _make("NoMemoryError", -1, "There is not enough memory.", MemoryError)
FullError = _make("FullError", -2, "The filter is full.")
InvalidError = _make("InvalidError", -3, "A parameter is not allowed.", ValueError)
MismatchError = _make("MismatchError", -4, "The two filters do not match.", ValueError)
CorruptError = _make("CorruptError", -5, "The stored filter is damaged.", ValueError)
TooNewError = _make("TooNewError", -6, "The stored filter needs a newer version.")
UnsupportedError = _make("UnsupportedError", -7, "This kind cannot do that.")
SecretError = _make("SecretError", -8, "The secret key is missing or wrong.")
ReadOnlyError = _make("ReadOnlyError", -9, "The filter is read-only: a map or a view.")
FileError = _make("FileError", -10, "A file could not be read or written.", OSError)
TooLargeError = _make("TooLargeError", -11, "The filter would be too large.", ValueError)
SaturatedError = _make("SaturatedError", -12, "The filter is too full for an estimate.")
NotFoundError = _make("NotFoundError", -13, "The key is not in the filter.", KeyError)
TombstonedError = _make("TombstonedError", -14, "The key was removed for good.")
CancelledError = _make("CancelledError", -15, "Stopped on request.")
ConflictError = _make("ConflictError", -16, "One key has two values.", ValueError)
PartialError = _make("PartialError", -17, "Only a part could be listed.")
BusyError = _make("BusyError", -18, "Another process is changing the file.", OSError)
ChangedError = _make("ChangedError", -19, "The file was changed by somebody else.", OSError)

Error.__module__ = "tamis"
BY_STATUS = {c.status: c for c in Error.__subclasses__()}
__all__ = ["Error", *(c.__name__ for c in BY_STATUS.values())]
