"""Inputs that nobody would write: findings or a clear refusal, never a failure of the program, never a wait."""

import random
import resource
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lockstep.catalog.builds import resolve
from lockstep.finding import lines
from lockstep.fleet.load import check_content
from lockstep.report.formats import as_json, sarif
from lockstep.rules.beside import judge
from lockstep.rules.given.context import Context
from lockstep.rules.given.kinds import Kind, kind_of
from lockstep.rules.given.read import Given
from lockstep.rules.suppressions import applied

TESTS = Path(__file__).resolve().parents[1]
FILES = {
    Kind.CONFIG_TOML: [*(TESTS / "check" / "cases").glob("*.toml"), *(TESTS / "check" / "defaults").glob("2.3*.toml")],
    Kind.KUBELET: [*(TESTS / "kubelet" / "files").glob("*.yaml")],
    Kind.OBJECTS: [*(TESTS / "check" / "cases").glob("LW5*.yaml")],
}
TEXTS = {kind: [path.read_text(encoding="utf-8") for path in sorted(paths)] for kind, paths in FILES.items()}
LINE = r'"C:\k\kubelet.exe" --windows-service --config=C:\var\config.yaml --node-labels=a=b,c=d --v=2'
WORDS = (
    "null",
    "true",
    "[]",
    "{}",
    "''",
    "1",
    "-1",
    "1e999",
    "nan",
    "\t",
    "\x00",
    "\ufeff",
    "\u2028",
    "{{ x }}",
    "&a ",
    "*a",
    "- ",
    "---\n",
    "...",
    "# lockstep: ignore LW401 because x\n",
    "version = 9\n",
    "'''",
    '"""',
    "\\",
    "[[a]]\n",
    "=",
    ":",
    "handler: 5\n",
    "kind: List\n",
    "items:\n",
    "<<: *a\n",
    "0x10",
    "2026-11-30",
    "\U0001f600",
)
CONTEXTS = [
    Context(),
    Context("1.7.36", "1.29.0", resolve("ltsc2025")),
    Context("2.3.7", "1.36.1", resolve("ltsc2022")),
]
LONGEST = 1.0


def mutated(text: str, seed: int) -> str:
    """Return a text with a few lines or characters taken out, doubled, moved or replaced by a telling word."""
    choose = random.Random(seed)  # noqa: S311 - no secret: which letters change
    for _ in range(choose.randint(1, 4)):
        start = choose.randrange(len(text) + 1)
        end = min(len(text), start + choose.choice((0, 1, 1, 5, 40)))
        part = choose.choice(("", choose.choice(WORDS), text[start:end] * 2, text[start:end][::-1]))
        text = text[:start] + part + text[end:]
        if choose.random() < 0.3:
            rows = text.splitlines(keepends=True)
            choose.shuffle(rows) if choose.random() < 0.1 else rows.sort(key=lambda _: choose.random() < 0.05)
            text = "".join(rows)
    return text


def check_survives(kind: Kind, index: int, seed: int, context: Context) -> None:
    text = mutated(TEXTS[kind][index % len(TEXTS[kind])], seed)
    content = text.encode("utf-8", "surrogatepass")
    if seed % 7 == 0:
        content = content[: len(content) // 2] + b"\xff\xfe" + content[len(content) // 2 :]
    start = time.process_time()
    kind_of(text, "given")
    found = applied(judge([(Given("given", content, None), kind)], mutated(LINE, seed), context, []), [], {})
    assert time.process_time() - start < LONGEST
    for finding in found.findings:
        assert finding.message
        assert finding.place is not None
        source = lines(found.sources[finding.place.file])
        assert 1 <= finding.place.line <= len(source)
        assert finding.place.column >= 1
    as_json.render(found)
    sarif.render(found)


MANY = 10_000
GROWTH_MEGABYTES = 32

every_input = given(
    st.sampled_from(sorted(TEXTS, key=str)), st.integers(0, 999), st.integers(0, 2**32), st.sampled_from(CONTEXTS)
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@every_input
def test_a_few_mutated_inputs(kind: Kind, index: int, seed: int, context: Context) -> None:
    check_survives(kind, index, seed, context)


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(TEXTS, key=str), ids=str)
def test_many_mutated_inputs(kind: Kind) -> None:
    warm = 0
    for seed in range(MANY):
        check_survives(kind, seed, seed, CONTEXTS[seed % len(CONTEXTS)])
        if seed == MANY // 10:
            warm = peak_megabytes()
    assert peak_megabytes() - warm < GROWTH_MEGABYTES


@pytest.mark.slow
def test_many_mutated_descriptions() -> None:
    text = (Path(__file__).parents[2] / "inventories" / "demo" / "group_vars" / "windows.yml").read_text(
        encoding="utf-8"
    )
    warm = 0
    for seed in range(MANY):
        start = time.process_time()
        loaded = check_content(mutated(text, seed).encode("utf-8", "surrogatepass"), "given")
        assert time.process_time() - start < LONGEST
        assert loaded.plan or loaded.failed
        if seed == MANY // 10:
            warm = peak_megabytes()
    assert peak_megabytes() - warm < GROWTH_MEGABYTES


def peak_megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.CONFIG_TOML, 'root = "' + "a:" * 50_000 + '"\n'),
        (Kind.CONFIG_TOML, "\n" * 100_000 + "version = 3\n"),
        (Kind.CONFIG_TOML, "# lockstep:" + " " * 100_000 + "x\n"),
        (Kind.CONFIG_TOML, "".join(f"key{number} = 1\n" for number in range(3_000))),
        (Kind.CONFIG_TOML, "a = " + "[" * 50_000),
        (Kind.OBJECTS, "kind: RuntimeClass\n" + "[" * 50_000),
        (Kind.OBJECTS, "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{f'*a{n - 1},' * 9}]\n" for n in range(1, 40))),
        (Kind.OBJECTS, "kind: RuntimeClass\nscheduling: &a {nodeSelector: *a}\n"),
        (Kind.OBJECTS, " " * 100_000 + "x"),
        (Kind.KUBELET, "kind: KubeletConfiguration\n" + "a: " * 1_000),
    ],
    ids=range(10),
)
def test_large_and_endless_inputs_take_no_time(kind: Kind, text: str) -> None:
    start = time.process_time()
    kind_of(text, "given")
    found = applied(judge([(Given("given", text.encode(), None), kind)], None, CONTEXTS[2], []), [], {})
    assert time.process_time() - start < LONGEST
    assert found.findings or text.endswith(("version = 3\n", "x"))
