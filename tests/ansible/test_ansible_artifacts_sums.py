"""Published checksums are fetched once in a run of Ansible, however many of its workers ask."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ansible import constants
from lockstep.ansible.artifacts import sums as node_artifacts_sums
from lockstep.ansible.artifacts.sums import fetch_once
from lockstep.artifacts.web import WebError


class Web:
    """Stands for the web, and counts what it was asked."""

    def __init__(self, *, absent: bool = False) -> None:
        self.asked: list[str] = []
        self.absent = absent

    def fetch(self, url: str) -> bytes:
        self.asked.append(url)
        if self.absent:
            raise WebError(f"{url}: 404 Not Found")
        return url.encode()


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Web:
    found = Web()
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    monkeypatch.setattr(node_artifacts_sums, "fetch", found.fetch)
    return found


def test_each_address_is_asked_once(web: Web) -> None:
    urls = ["https://a.example/x", "https://a.example/y"]
    with ThreadPoolExecutor(8) as workers:
        found = list(workers.map(fetch_once, urls * 8))
    assert found == [url.encode() for url in urls] * 8
    assert sorted(web.asked) == urls


def test_an_address_that_gives_nothing_is_not_waited_for_again_and_again(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    web.absent = True
    for _ in range(3):
        with pytest.raises(WebError, match="404 Not Found"):
            fetch_once("https://a.example/x")
    assert len(web.asked) == 1
    web.absent = False
    monkeypatch.setattr(node_artifacts_sums, "_FAILED_FOR", 0)
    assert fetch_once("https://a.example/x") == b"https://a.example/x"
