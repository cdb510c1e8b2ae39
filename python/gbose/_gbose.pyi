from typing import Any, Callable, TypeVar

_Callback = TypeVar("_Callback", bound=Callable[..., Any])

class _FFI:
    def def_extern(self, error: int = ..., onerror: Callable[..., None] = ...) -> Callable[[_Callback], _Callback]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _FFI
lib: Any
