"""Errors of the C library as exceptions."""

from __future__ import annotations

from ._gbose import ffi, lib

_NAMES = {getattr(lib, name): name[6:] for name in dir(lib) if name.startswith("GBOSE_E")}


class Error(ValueError):
    """Bad input, in the words of the C library. `name` is its code: "ESPEC", "ETICKET", "EFOREIGN", ...

    >>> import gbose
    >>> try:
    ...     gbose.Bandit("gbose:gama=0.1", dim=3)
    ... except gbose.Error as error:
    ...     print(error.name, "-", error)
    ESPEC - gbose has no option 'gama'; did you mean 'gamma'?
    """

    def __init__(self, text: str, name: str = "EINVAL") -> None:
        super().__init__(text)
        self.name = name

    def __reduce__(self) -> tuple[type[Error], tuple[str, str]]:
        return Error, (str(self), self.name)


def failure(code: int, text: str = "") -> Exception:
    """The exception for a code; `text` is what the library said beyond it."""
    text = text or ffi.string(lib.gbose_strerror(code)).decode()
    if code == lib.GBOSE_ENOMEM:
        return MemoryError(text)
    if code in (lib.GBOSE_STUDY_EREAD, lib.GBOSE_STUDY_EWRITE):
        return OSError(text)
    return Error(text, _NAMES.get(code, "EINVAL"))


def check(code: int, err: object = None) -> None:
    """Raise if a code is not GBOSE_OK. `err` is the gbose_error of the call, if it has one."""
    if code:
        raise failure(code, ffi.string(err.text).decode(errors="replace") if err is not None else "")  # type: ignore
