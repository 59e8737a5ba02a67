from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.artifacts.given import artifact

from lockstep.artifacts.published import PublishedError, with_digests
from lockstep.artifacts.request import Defaults, RequestError, at_mirror, wanted
from lockstep.artifacts.sums import SumsError, digest_in, sums_problem
from lockstep.artifacts.wanted import Download, Wanted, secrets_of, shown_url
from lockstep.artifacts.web import WebError, fetch

CASES = Path(__file__).parent / "cases"
D, E = "0123456789abcdef" * 4, "fedcba9876543210" * 4


def cases(name: str) -> pytest.MarkDecorator:
    found = yaml.safe_load((CASES / name).read_text(encoding="utf-8"))
    return pytest.mark.parametrize("case", found, ids=lambda case: str(case["about"]))


def item(**given: Any) -> dict[str, Any]:
    digest = {"D": D, "E": E}.get(str(given.get("sha256")), given.get("sha256"))
    return artifact(**{**given, "sha256": digest})


def one(defaults: Defaults | None = None, **given: Any) -> Wanted:
    [found] = wanted([item(**given)], defaults or Defaults(None, {}, published=True))
    return found


@cases("sums.yaml")
def test_published_sums(case: dict[str, Any]) -> None:
    content = case["text"].replace("D", D).replace("E", E) if case.get("digest") or "error" in case else ""
    if case["text"].startswith("<") or case["text"].startswith("Not"):
        content = case["text"]
    file = "containerd-2.3.4-windows-amd64.tar.gz"
    if "digest" in case:
        assert digest_in(content.encode(), file, case["form"]) == D
    else:
        with pytest.raises(SumsError) as raised:
            digest_in(content.encode(), file, case["form"])
        assert case["error"] in str(raised.value)


@cases("request.yaml")
def test_what_is_wrong_with_a_task(case: dict[str, Any]) -> None:
    defaults = Defaults(case.get("mirror"), case.get("pinned", {}), published=case.get("published", True))
    with pytest.raises(RequestError) as raised:
        wanted([item(**each) for each in case["artifacts"]], defaults)
    assert list(raised.value.problems) == case["problems"]


def test_what_follows_kubelet() -> None:
    asked = [
        item(name=name, version="v1.36.1" if name == "kubelet" else None) for name in ("crictl", "kubeadm", "kubelet")
    ]
    found = wanted(asked, Defaults(None, {}, published=True))
    assert [str(each) for each in found] == ["crictl 1.36.0", "kubelet 1.36.1", "kubeadm 1.36.1"]


def test_a_pin_counts_before_the_published_sum_and_the_artifacts_own_before_both() -> None:
    defaults = Defaults(None, {"kubelet": {"1.36.1": D}}, published=True)
    assert one(defaults, name="kubelet", version="1.36.1").digest == D
    assert one(defaults, name="kubelet", version="1.36.1", sha256=f"SHA256:{E.upper()}".lower()).digest == E
    assert one(defaults, name="kubelet", version="1.36.0").digest == ""
    assert one(defaults, name="kubelet", version="1.36.1", sha256_url="https://example.com/sums").digest == ""


def test_a_mirror_stands_for_scheme_and_host_of_the_releases_own_addresses_alone() -> None:
    defaults = Defaults("https://mirror.example/k8s/", {}, published=True)
    found = one(defaults, name="kubelet", version="1.36.1")
    assert str(found.source) == "https://mirror.example/k8s/v1.36.1/bin/windows/amd64/kubelet.exe"
    assert found.sums
    assert found.sums.url == "https://mirror.example/k8s/v1.36.1/bin/windows/amd64/kubelet.exe.sha256"
    own = one(defaults, name="kubelet", version="1.36.1", url="https://example.com/kubelet.exe")
    assert str(own.source) == "https://example.com/kubelet.exe"
    assert at_mirror("https://dl.k8s.io/a", None) == "https://dl.k8s.io/a"


def test_published_sums_name_the_file_as_its_project_does_wherever_it_comes_from() -> None:
    found = one(name="containerd", version="2.3.4", src="/files/c.tgz")
    line = f"{D}  containerd-2.3.4-windows-amd64.tar.gz\n".encode()
    assert with_digests([found], lambda _: line)[0].digest == D
    own = one(name="containerd", version="2.3.4", url="https://e.com/c.tgz?x=1", sha256_url="https://e.com/sums")
    assert with_digests([own], lambda _: f"{D}  c.tgz\n".encode())[0].digest == D


def test_all_sums_that_are_not_to_be_had_are_told_at_once() -> None:
    def absent(url: str) -> bytes:
        raise WebError(f"{url}: 404 Not Found")

    found = wanted([item(name="kubelet", version="1.36.1"), item(name="crictl")], Defaults(None, {}, published=True))
    with pytest.raises(PublishedError) as raised:
        with_digests(found, absent)
    assert [problem.partition(":")[0] for problem in raised.value.problems] == ["crictl 1.36.0", "kubelet 1.36.1"]


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://dl.k8s.io/x", True),
        ("http://127.0.0.1:15985/mirror/x", True),
        ("http://localhost/x", True),
        ("http://dl.k8s.io/x", False),
        ("http://127.0.0.1.example.com/x", False),
        ("http://127.0.0.1@example.com/x", False),
        ("ftp://example.com/x", False),
        ("file:///etc/passwd", False),
    ],
)
def test_sums_come_over_https(url: str, *, good: bool) -> None:
    assert (sums_problem(url) is None) is good
    if not good:
        with pytest.raises(WebError):
            fetch(url)


def test_what_may_be_secret_in_a_source_is_not_shown() -> None:
    url = "https://me:hunter2@example.com:8443/kubelet.exe?token=s3cret#x"
    source = Download(url, {"Authorization": "Bearer t0ken"}, "http://p:pr0xy@proxy:3128")
    shown = f"{source} {shown_url(url)}"
    assert shown_url(url) == "https://********@example.com:8443/kubelet.exe?********"
    for secret in ("hunter2", "s3cret", "t0ken", "pr0xy"):
        assert secret not in shown
        assert any(secret in each for each in secrets_of(source))
