import pytest
from server import Server, sanitized


def pytest_configure(config):
    config.addinivalue_line("markers", "not_for_sanitizers: a sanitizer wants to be loaded first, and keeps what was freed")


def pytest_collection_modifyitems(config, items):
    """What cannot work under a sanitizer is left out there. It is not skipped: a skipped test is an error."""
    out = [item for item in items if item.get_closest_marker("not_for_sanitizers")]
    if out and sanitized():
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]


def pytest_sessionfinish(session):
    """A test that is skipped, for want of a browser, say, is not a test that has passed: scripts/setup.sh installs what they need."""
    if session.config.pluginmanager.get_plugin("terminalreporter").stats.get("skipped") and not session.exitstatus:
        print("\nservice: tests were skipped")
        session.exitstatus = 1


@pytest.fixture
def server(tmp_path):
    it = Server(tmp_path / "data").start()
    yield it
    if it.process.poll() is None:
        assert it.stop() == 0


@pytest.fixture
def api(server):
    return server.client()
