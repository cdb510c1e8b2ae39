"""A client of `gbose serve`: standard library only, so that it can also be copied to where the package is not.

    from gbose import Client

    news = Client("http://127.0.0.1:8790").bandit("news")
    d = news.decide(user={"device": "ios"}, arms=[{"id": "a", "topic": "sports"}, {"id": "b", "topic": "travel"}])
    show(d["arm"])
    news.reward(d["event"], 1)
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from typing import Any, Dict, Iterator, List, Optional
from urllib.parse import quote, urlsplit

__all__ = ["Client", "RemoteBandit", "ServiceError"]


class ServiceError(Exception):
    """The service refused: `status` of HTTP, `code` for programs, `at` the field it is about (or None)."""

    def __init__(self, status: int, code: str, message: str, at: Optional[str] = None) -> None:
        super().__init__(f"{message} ({code}{', at ' + at if at else ''}, status {status})")
        self.status, self.code, self.message, self.at = status, code, message, at


class Client:
    """A service. Any number of threads may use one client; each has a connection of its own, which is kept open.

    A call that met a broken connection, or a service that could not write (503), is repeated `retries` times, with pauses. That is
    safe for rewards, which count once, and for decisions that have an `event` of the caller's; other decisions are repeated only if
    the connection broke before anything was sent.
    """

    def __init__(
        self, address: str = "http://127.0.0.1:8790", key: Optional[str] = None, timeout: float = 10, retries: int = 3
    ) -> None:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"an address is like http://127.0.0.1:8790, not {address!r}")
        self._parts, self._key, self._timeout, self._retries = parts, key, timeout, retries
        self._local = threading.local()

    def bandit(self, name: str) -> "RemoteBandit":
        """One bandit of it, whether it is there or not."""
        return RemoteBandit(self, name)

    def bandits(self) -> Any:
        """All bandits, with settings and counts."""
        return self.call("GET", "/v1/bandits")["bandits"]

    def close(self) -> None:
        """Close this thread's connection."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def _connection(self) -> http.client.HTTPConnection:
        connection: Optional[http.client.HTTPConnection] = getattr(self._local, "connection", None)
        if connection is None:
            kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
            connection = kind(self._parts.hostname or "", self._parts.port, timeout=self._timeout)
            self._local.connection = connection
        return connection

    def _once(self, method: str, path: str, body: Optional[str]) -> http.client.HTTPResponse:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        connection = self._connection()
        connection.request(method, self._parts.path.rstrip("/") + path, body=body, headers=headers)
        return connection.getresponse()

    def call(self, method: str, path: str, body: Any = None, again: bool = True) -> Any:
        """Any route; what it answers, or ServiceError. `again`: it may be repeated when it is not known whether it arrived."""
        text = None if body is None else json.dumps(body)
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                answer = self._once(method, path, text)
                data = answer.read()
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if last or not (again or isinstance(error, ConnectionRefusedError)):
                    raise
            else:
                if answer.status < 300:
                    return json.loads(data) if data else None
                if answer.status != 503 or last:
                    raise self._error(answer.status, data)
            time.sleep(0.05 * 2**attempt)
        raise AssertionError("not reached")

    @staticmethod
    def _error(status: int, data: bytes) -> ServiceError:
        try:
            error = json.loads(data)["error"]
            return ServiceError(status, error["code"], error["message"], error["at"])
        except (ValueError, KeyError, TypeError):
            return ServiceError(status, "unknown", data[:200].decode(errors="replace"))

    def lines(self, path: str) -> Iterator[Dict[str, Any]]:
        """The answer of a route that gives JSON lines, one at a time."""
        answer = self._once("GET", path, None)
        if answer.status >= 300:
            raise self._error(answer.status, answer.read())
        for line in answer:
            yield json.loads(line)


class RemoteBandit:
    """One bandit of a service."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name
        self._path = f"/v1/bandits/{quote(name, safe='')}"

    def make(self, **settings: Any) -> Any:
        """Make it, or change its settings: spec, schema or dim, wait, default_reward, ..."""
        return self.client.call("PUT", self._path, settings)

    def show(self) -> Any:
        """Its settings and counts."""
        return self.client.call("GET", self._path)

    def decide(self, **request: Any) -> Any:
        """An arm: decide(contexts=[[...], ...]) or decide(user={...}, round={...}, arms=[{...}, ...]); event, unit, exclude, defer."""
        return self.client.call("POST", self._path + "/decide", request, again="event" in request)

    def decide_many(self, requests: List[Dict[str, Any]]) -> Any:
        """Up to 1,000 decisions; all of them are made, or none is."""
        return self.client.call("POST", self._path + "/decide", requests, again=all("event" in r for r in requests))

    def reward(self, event: str, reward: Optional[float] = None, *, id: Optional[str] = None, final: bool = False) -> Any:
        """A reward of an event. `id` tells several apart; `final` closes the event, with or without a reward."""
        body = {"event": event, "reward": reward, "id": id, "final": final}
        return self.client.call("POST", self._path + "/rewards", {k: v for k, v in body.items() if v is not None})

    def reward_many(self, rewards: List[Dict[str, Any]]) -> Any:
        """Up to 1,000 rewards; each has its own result."""
        return self.client.call("POST", self._path + "/rewards", rewards)

    def activate(self, event: str) -> Any:
        """Say that a deferred decision was used."""
        return self.client.call("POST", self._path + "/activate", {"event": event})

    def why(self, event: str, recompute: bool = False) -> Any:
        """An event: features, probabilities, model, rewards; and decided again, if `recompute` says so."""
        return self.client.call("GET", f"{self._path}/events/{quote(event, safe='')}{'?recompute=1' if recompute else ''}")

    def log(self) -> Iterator[Dict[str, Any]]:
        """All events, in the order of decision."""
        return self.client.lines(self._path + "/log")

    def evaluation(self) -> Any:
        """What the base arm and chance would have earned instead."""
        return self.client.call("GET", self._path + "/evaluation")

    def effects(self) -> Any:
        """What features do to the reward, with intervals."""
        return self.client.call("GET", self._path + "/effects")["effects"]

    def erase(self, unit: str) -> Any:
        """Erase all events of a unit, and learn again without them."""
        return self.client.call("DELETE", f"{self._path}/units/{quote(unit, safe='')}")
