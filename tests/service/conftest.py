import pytest
from server import Server


@pytest.fixture
def server(tmp_path):
    it = Server(tmp_path / "data").start()
    yield it
    if it.process.poll() is None:
        assert it.stop() == 0


@pytest.fixture
def api(server):
    return server.client()
