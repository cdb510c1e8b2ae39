"""What the documentation shows works: the examples of docstrings, and the Python blocks of the pages."""

import doctest
import importlib
import pkgutil
import re

import pytest

import gbose

MODULES = sorted(m.name for m in pkgutil.iter_modules(gbose.__path__) if m.name != "_gbose")


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(f"gbose.{name}")
    failed, tried = doctest.testmod(module)
    assert failed == 0
    assert tried or not any(
        hasattr(getattr(gbose, n), "__doc__")
        and getattr(gbose, n).__module__ == module.__name__
        and ">>>" in (getattr(gbose, n).__doc__ or "")
        for n in gbose.__all__
    )


def test_everything_public_has_a_docstring():
    for name in gbose.__all__:
        thing = getattr(gbose, name)
        assert thing.__doc__, name
        for method, value in vars(thing).items() if isinstance(thing, type) else ():
            if not method.startswith("_") and callable(value):
                assert value.__doc__, f"{name}.{method}"


@pytest.mark.parametrize("page", ["docs/python.md", "docs/features.md", "docs/evaluation.md", "docs/coming-from.md", "python/README.md"])
def test_pages(tree, page, tmp_path, monkeypatch):
    """The blocks of a page are run in order, as one program. A block of another package, or that needs a
    server, is marked by its first line."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", (tree / page).read_text(), re.MULTILINE | re.DOTALL)
    ours = [b for b in blocks if not re.match(r"# (HTTP|MABWiser|contextualbandits|OBP|VW|coba)\b", b)]
    assert ours
    exec(compile("\n".join(ours), page, "exec"), {"__name__": page})
