"""Nothing of a secret is shown, in whatever form the file has it."""

from __future__ import annotations

import pytest
import tomlkit
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from lockstep.ansible.text import masked_fields, shown_hosts, shown_toml, shown_yaml
from lockstep.words import MASK

# Letters of a Greek alphabet, so that they are found nowhere else; quotes, backslashes and line breaks between them.
SECRETS = st.text("αβγδ", min_size=4).flatmap(
    lambda word: st.lists(st.sampled_from(["'", '"', "\\", "#", "=", " ", ","]), max_size=3).map(
        lambda between: word + "".join(between) + word
    )
)
GREEK = set("αβγδ")


@given(SECRETS, st.sampled_from(["password", "auth", "identitytoken"]), st.booleans())
@settings(max_examples=200)
def test_registry_credentials(secret: str, key: str, inline: bool) -> None:  # noqa: FBT001 - a strategy's value
    document = tomlkit.document()
    table = {"username": "kim", key: secret, "last": "kept"}
    document["auths"] = {"r.example": tomlkit.inline_table().append(key, secret) if inline else table}
    text = tomlkit.dumps(document)
    shown = shown_toml(text.encode())
    assert not GREEK & set(shown), text
    assert MASK in shown
    assert ("kept" in shown) is (not inline)
    assert tomlkit.parse(shown).unwrap()["auths"]["r.example"][key] == MASK


@pytest.mark.parametrize(
    "text",
    [
        "[plugins.'cri'.registry.headers]\nA = ['αβγδ', \"αβγδ\"]\nB = [\n  'αβγδ', # αβγδ\n]\n[last]\nkept = 1\n",
        "\ufeff[plugins.cri.registry]\nheaders = {Authorization = ['αβγδ'], X-Token = ['αβγδ']}\nlast.kept = 1\n",
        "[plugins.cri]\nregistry.headers.Authorization = ['αβγδ']\nlast.kept = 1\n",
        "plugins = {cri = {registry = {headers = {A = ['αβγδ']}, last = {kept = 1}}}}\n",
    ],
)
def test_headers_of_registries(text: str) -> None:
    shown = shown_toml(text.encode())
    assert not GREEK & set(shown)
    assert MASK in shown
    assert "kept = 1" in shown
    assert tomlkit.parse(shown.removeprefix("\ufeff"))


@pytest.mark.parametrize(
    "text",
    [
        "[header]\nA = 'αβγδ'\nB = ['αβγδ',\n  'αβγδ']\n[host.'https://a.example']\nkept = 1\n",
        "\ufeffkept = 1\n[host.'https://a.example'.header]\nAuthorization = \"αβγδ\"\n",
        "[host.'https://a.example']\nheader = {Authorization = 'αβγδ'}\nkept = 1\n",
        "host = {'https://a.example' = {HEADER = {A = ['αβγδ']}, kept = 1}}\n",
    ],
)
def test_headers_of_hosts(text: str) -> None:
    shown = shown_hosts(text.encode())
    assert not GREEK & set(shown)
    assert MASK in shown
    assert "kept = 1" in shown


@pytest.mark.parametrize("text", ["[[host]]\nheader = {A = 'αβγδ'}\n", "[[host.header]]\nA = 'αβγδ'\n", "αβγδ"])
def test_hosts_in_a_form_that_cannot_be_masked_are_not_shown(text: str) -> None:
    assert shown_hosts(text.encode()).startswith("# Not shown")


@given(st.lists(SECRETS, min_size=1, max_size=3), st.booleans())
@settings(max_examples=200)
def test_headers_of_static_pods(secrets: list[str], flow: bool) -> None:  # noqa: FBT001 - a strategy's value
    fields = {"maxPods": 60, "staticPodURLHeader": {"Authorization": secrets}, "podsPerCore": 0}
    text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, default_flow_style=None if flow else False)
    shown = shown_yaml(text.encode())
    assert not GREEK & set(shown), text
    assert yaml.safe_load(shown) == fields | {"staticPodURLHeader": MASK}
    assert masked_fields(fields)["staticPodURLHeader"] == MASK


@pytest.mark.parametrize(
    "text",
    [
        '{"maxPods": 60, "staticPodURLHeader": {"A": ["αβγδ"]}}',
        '"staticPodURLHeader":\n  A: [αβγδ]\n',
        "[staticPodURLHeader: αβ",
    ],
)
def test_a_form_that_cannot_be_masked_is_not_shown(text: str) -> None:
    assert shown_yaml(text.encode()).startswith("# Not shown: staticPodURLHeader")


def test_everything_else_is_shown_as_it_is() -> None:
    text = "version = 3\r\n[plugins.'a']\r\n  config_path = 'C:\\certs.d' # password of none\r\n"
    assert shown_toml(text.encode()) == text
    assert shown_toml(None) == shown_yaml(None) == ""
    assert shown_yaml(b"maxPods: 60\n# staticPodURLHeader: none\n") == "maxPods: 60\n# staticPodURLHeader: none\n"
