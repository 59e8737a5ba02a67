from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader

from lockstep.ansible.plain import to_plain

TEXT = """
words: [text, "1.30", 007, 0x1F, 1.5, true, null]
when: 2026-11-29
at: 2026-11-29 10:11:12
nested: {a: {b: [c]}}
"""


def types(value: Any) -> set[type]:
    found = {type(value)}
    if isinstance(value, dict):
        return found.union(*(types(key) | types(item) for key, item in value.items()))
    if isinstance(value, list):
        return found.union(*(types(item) for item in value))
    return found


def test_values_that_ansible_loaded_become_exactly_the_plain_types() -> None:
    tagged = DataLoader().load(TEXT)
    assert type(tagged["words"][0]) is not str, "Ansible no longer tags values, and this module has lost its reason"
    plain = to_plain(tagged)
    assert types(plain) == {dict, list, str, int, float, bool, type(None), dt.date, dt.datetime}
    assert plain == {
        "words": ["text", "1.30", 7, 31, 1.5, True, None],
        "when": dt.date(2026, 11, 29),
        "at": dt.datetime(2026, 11, 29, 10, 11, 12, tzinfo=tagged["at"].tzinfo),
        "nested": {"a": {"b": ["c"]}},
    }
    yaml.safe_dump(plain)


@pytest.mark.parametrize("value", [b"bytes", object(), {"deep": [b""]}])
def test_what_no_node_can_be_given_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="is of no use here"):
        to_plain(value)
