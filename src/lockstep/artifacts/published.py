"""The SHA-256 of what is wanted, taken from published sums where it was not given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lockstep.artifacts.observed import Observed
from lockstep.artifacts.sums import SumsError, digest_in
from lockstep.artifacts.wanted import Wanted, shown_url
from lockstep.artifacts.web import WebError

Fetch = Callable[[str], bytes]
"""Returns what is at an address, or raises WebError."""


class PublishedError(Exception):
    """Sums that are not to be had; `problems` has what is wrong, one artifact each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def with_known_digests(wanted: Sequence[Wanted], observed: Observed) -> tuple[Wanted, ...]:
    """Return what is wanted, with the SHA-256 under which a node has it: nobody has to be asked for what is in place.

    It was checked when it was fetched, and of a release that is in place nothing is fetched.
    """
    return tuple(
        replace(each, digest=entry.digest) if not each.digest and (entry := observed.in_place(each)) else each
        for each in wanted
    )


def with_digests(wanted: Sequence[Wanted], fetch: Fetch) -> tuple[Wanted, ...]:
    """Return what is wanted, each with its SHA-256. Raises PublishedError that names all which have none."""
    found: list[Wanted] = []
    problems: list[str] = []
    for each in wanted:
        if each.digest or each.sums is None:
            found.append(each)
            continue
        try:
            digest = digest_in(fetch(each.sums.url), each.published_name, each.sums.form)
        except WebError as error:
            problems.append(f"{each}: {error}")
        except SumsError as error:
            problems.append(f"{each}: {shown_url(each.sums.url)}: {error}")
        else:
            found.append(replace(each, digest=digest))
    if problems:
        raise PublishedError(problems)
    return tuple(found)
