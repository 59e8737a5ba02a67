"""Small files from the web, published checksums: the one place of this package that does I/O."""

from __future__ import annotations

import ssl
from http.client import HTTPException, HTTPMessage
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from lockstep.artifacts.sums import sums_problem
from lockstep.artifacts.wanted import shown_url

_SECONDS = 30
_MOST = 1024 * 1024
_AGENT = "lockstep"


class WebError(Exception):
    """An address that gave nothing; the text says why, without secrets."""


class _StaysSafe(HTTPRedirectHandler):
    """Follows redirects, but not from https to http."""

    def redirect_request(  # noqa: PLR0917 - as the standard library has it
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        """Return the request that follows the redirect; raises URLError where it would not be safe."""
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise URLError(f"it redirects to {shown_url(newurl)}, which is not https")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def fetch(url: str) -> bytes:
    """Return what is at an address, by the proxies of the environment. Raises WebError."""
    if problem := sums_problem(url):
        raise WebError(f"{shown_url(url)}: {problem}")
    try:
        request = Request(url, headers={"User-Agent": _AGENT})  # noqa: S310 - `sums_problem` lets https pass alone
        with build_opener(_StaysSafe).open(request, timeout=_SECONDS) as response:
            content: bytes = response.read(_MOST + 1)
    except HTTPError as error:
        raise WebError(f"{shown_url(url)}: {error.code} {error.reason}") from error
    except (URLError, HTTPException, ssl.SSLError, OSError, ValueError) as error:
        raise WebError(f"{shown_url(url)}: {_reason(error).replace(url, shown_url(url))}") from error
    if len(content) > _MOST:
        raise WebError(f"{shown_url(url)}: it is larger than any list of checksums")
    return content


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return str(getattr(reason, "strerror", None) or reason)
