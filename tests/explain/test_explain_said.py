"""What a rule's page says is seen in the cluster leads back to the rule, as it stands there and in other words."""

import re
import time

import pytest

from lockstep.cli import main
from lockstep.knowledge import rules
from lockstep.knowledge.lookup import Found, lookup
from lockstep.knowledge.said import lines, rules_that_say

PRINTED = [
    (rule, line)
    for rule in rules.rules()
    if (page := rules.page(rule))
    for block in re.findall(r"^```\w*\n(.*?)^```$", page.cluster, re.MULTILINE | re.DOTALL)
    for line in block.splitlines()
    if line.strip()
]


def test_there_is_something_to_feed_back() -> None:
    assert len(PRINTED) == len(lines()) >= 100


@pytest.mark.parametrize(("rule", "line"), PRINTED)
def test_every_printed_line_leads_to_its_rule(rule: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", line]) == 0
    assert rule in capsys.readouterr().out


@pytest.mark.parametrize(
    ("pasted", "rule"),
    [
        ("Warning  0/17 nodes are available: 9 node(s) didn't match Pod's node affinity/selector.", "LW509"),
        ('pod rejected: RuntimeClass "my-own" not found', "LW607"),
        ("E1130 run.go: Using lenient decoding as strict decoding failed: err=x", "LW302"),
        ("unsupported eviction signal nodefs.inodes", "LW314"),
        ("found a duplicate dict key (win2022). Using last defined value only.", "LW006"),
        ('failed to find snapshotter "native"', "LW431"),
    ],
)  # fmt: skip
def test_other_names_and_surroundings_lead_there_too(pasted: str, rule: str) -> None:
    assert rule in rules_that_say(pasted)
    assert isinstance(lookup(pasted), Found)


def test_the_very_words_come_first() -> None:
    assert rules_that_say('failed to get sandbox runtime: no runtime for "runc" is configured')[0] != "LW516"
    wrapped = "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: "
    text = f'{wrapped}no runtime for "runc" is configured'
    assert rules_that_say(text)[0] == "LW516"


@pytest.mark.parametrize("text", ["", "no", "error", "Windows", "the pod does not start", "...", '""'])
def test_little_is_no_line_of_a_page(text: str) -> None:
    assert rules_that_say(text) == []


def test_a_long_text_is_searched_in_time() -> None:
    text = 'level=warning msg="Ignoring unknown key in TOML for plugin" no runtime for " nodes are available: ' * 2_000
    begun = time.perf_counter()
    rules_that_say(text)
    assert time.perf_counter() - begun < 2
