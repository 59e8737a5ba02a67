"""A class that has a manifest and is not described, or the reverse."""

from __future__ import annotations

from collections.abc import Iterator

from lockstep.finding import Finding, Severity
from lockstep.rules.given.together import Together
from lockstep.words import nearest

RULE = "LW607"


def find(given: Together) -> Iterator[Finding]:
    """Yield Windows classes that only one of the two knows. Source: the description, which is to be all there is."""
    if given.plan is None or not given.classes:
        return
    described = given.plan.classes
    for item in given.windows_classes:
        if item.name and item.name not in described:
            meant = nearest(item.name, described)
            hint = f"did you mean '{meant}'?" if meant else None
            message = f"class {item.name} has a manifest and is not described"
            yield item.warning(
                RULE, ("metadata", "name"), message, hint=hint, fix="describe it, or remove the manifest"
            )
    names = {item.name for item in given.classes}
    locator = next(one.locator for one in given.loaded if one.plan is given.plan)
    for name in described:
        if name not in names:
            path = ("runtime_classes", name)
            message = f"class {name} is described and has no manifest among the files"
            place = locator.key(path)
            yield Finding(RULE, Severity.WARNING, path, message, None, "run lockstep render", place)
