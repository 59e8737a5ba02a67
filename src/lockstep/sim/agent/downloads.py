"""Fetching over HTTP as the agent does: further attempts, its own redirections, and nothing secret in what it says."""

from __future__ import annotations

import base64
import http.client
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from lockstep.sim.agent.failure import OperationError
from lockstep.sim.clock import Clock

BUSY = (408, 429, 500, 502, 503, 504)
MOST_ATTEMPTS = 4
_MOST_HOPS = 10
_BLOCK = 1 << 20
_PATIENCE = 60.0
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Download:
    """What is fetched, and until when. `room` tells how many bytes there is room for."""

    source: Mapping[str, Any]
    seconds: float
    clock: Clock
    room: Callable[[], int]

    def fetch(self) -> bytes:
        """Return the content; raises OperationError."""
        began, attempt = self.clock.now(), 0
        while True:
            attempt += 1
            try:
                return self._once(began)
            except _AgainError as error:
                late = self.clock.now() - began >= self.seconds
                pause = 2.0 ** (attempt - 1)
                code, message = ("timeout", error.late) if late else ("download_failed", error.message)
                if late or attempt == MOST_ATTEMPTS or self.clock.now() - began + pause >= self.seconds:
                    count = f" That was attempt {attempt}." if attempt > 1 else ""
                    raise OperationError(code, message + count) from None
                self.clock.sleep(pause)

    def _once(self, began: float) -> bytes:
        address = _address(self.source["url"], "URL")
        for _ in range(_MOST_HOPS + 1):
            left = max(0.001, self.seconds - (self.clock.now() - began))
            answer = self._ask(address, min(left, _PATIENCE))
            if isinstance(answer, http.client.HTTPResponse):
                with answer:
                    return self._read(address, answer, began)
            if answer.status not in (301, 302, 303, 307, 308):
                words = f"{shown(address)} answered {answer.status} {answer.reason}."
                raise _AgainError(words, words) if answer.status in BUSY else OperationError("download_failed", words)
            address = _next(address, answer)
        message = f"{shown(address)} is where ten redirections led to, and it answered with another."
        raise OperationError("download_failed", message)

    def _read(self, address: SplitResult, answer: http.client.HTTPResponse, began: float) -> bytes:
        announced = answer.length
        if announced is not None and announced > self.room():
            message = f"{shown(address)} has {announced} bytes, and the node's drive has {self.room()} bytes free."
            raise OperationError("no_space", message)
        data = bytearray()
        try:
            while block := answer.read1(_BLOCK):
                data += block
                if self.clock.now() - began >= self.seconds:
                    break
        except (OSError, http.client.HTTPException):
            pass
        if announced is None or len(data) == announced:
            return bytes(data)
        whole = f" of {announced}"
        message = f"{shown(address)} was cut off after {len(data)}{whole} bytes."
        raise _AgainError(message, self._late(address, len(data), announced))

    def _late(self, address: SplitResult, size: int, announced: int | None) -> str:
        whole = "" if announced is None else f" of {announced}"
        return f"{shown(address)} took longer than {self.seconds:g} s: {size}{whole} bytes had come."

    def _ask(self, address: SplitResult, seconds: float) -> http.client.HTTPResponse | _Refusal:
        """Return a server's answer; raises OperationError, or _AgainError where there is none."""
        proxy = self.source.get("proxy")
        if proxy:
            _address(proxy, "proxy")
        proxies = {"http": proxy, "https": proxy} if proxy else {}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxies), _Redirections())
        query = f"?{address.query}" if address.query else ""
        request = urllib.request.Request(f"{shown(address)}{query}", headers=self._headers(address))  # noqa: S310 - the contract has http and https only
        try:
            answer: http.client.HTTPResponse = opener.open(request, timeout=seconds)
        except urllib.error.HTTPError as error:
            error.close()
            return _Refusal(error.code, str(error.reason), error.headers.get("Location"))
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLCertVerificationError):
                words = f"{shown(address)}: {reason.verify_message}"
                raise OperationError("download_failed", words) from None
            raise _AgainError(f"{shown(address)} did not answer.", self._late(address, 0, None)) from None
        return answer

    def _headers(self, address: SplitResult) -> dict[str, str]:
        """Return the header fields for an address: what was given for one server is not for another."""
        origin = urlsplit(self.source["url"])
        given: Mapping[str, str] = self.source.get("headers", {})
        wrong = next(
            (name for name, value in given.items() if not _NAME.fullmatch(name) or _CONTROL.search(value)), None
        )
        if wrong is not None:
            message = f"The header field {wrong} cannot be sent: its name or its value is not allowed."
            raise OperationError("download_failed", message)
        fields = {"User-Agent": "lockstep", "Connection": "close"}
        if (address.scheme, _authority(address)) != (origin.scheme, _authority(origin)):
            return fields
        account, at, _ = origin.netloc.rpartition("@")
        if at:
            fields["Authorization"] = f"Basic {base64.b64encode(unquote(account).encode()).decode()}"
        return {**fields, **given}


def shown(address: SplitResult) -> str:
    """Return an address without what could be a secret."""
    return f"{address.scheme}://{_authority(address)}{address.path or '/'}"


class _AgainError(Exception):
    """An attempt that failed; another may go better. `late` are the words for one that failed when time was up."""

    def __init__(self, message: str, late: str) -> None:
        super().__init__(message)
        self.message = message
        self.late = late


class _Refusal(NamedTuple):
    """An answer without the content that was asked for."""

    status: int
    reason: str
    location: str | None


class _Redirections(urllib.request.HTTPRedirectHandler):
    """Follow none: where they lead is for the caller to judge."""

    def redirect_request(self, *_: Any) -> None:
        """Make no further request."""


def _address(text: str, what: str) -> SplitResult:
    try:
        address = urlsplit(text)
        known = address.scheme in ("http", "https") and bool(address.hostname) and address.port != 0
    except ValueError:
        known = False
    if not known:
        raise OperationError("download_failed", f"The {what} is no address of http or https.")
    return address


def _authority(address: SplitResult) -> str:
    return address.netloc.rpartition("@")[2]


def _next(address: SplitResult, answer: _Refusal) -> SplitResult:
    following = urlsplit(urljoin(address.geturl(), answer.location)) if answer.location else None
    if following is None or following.scheme not in ("http", "https") or not following.netloc:
        words = f"{shown(address)} answered {answer.status} and points to no address of http or https."
        raise OperationError("download_failed", words)
    return following
