"""Data against the specification: every finding at once, and what can be used all the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from math import isfinite
from typing import Any

from lockstep.finding import Finding, Place, Severity
from lockstep.fleet.shape import refusal
from lockstep.fleet.shape.kinds import Kind, needs_quotes, written, wrong_type
from lockstep.fleet.shape.refusal import INVALID, Partial, Refused
from lockstep.fleet.shape.spec import Field, Free, Items, Record, Shape, Table, WordOr
from lockstep.fleet.text.document import UNREADABLE
from lockstep.fleet.text.locate import Locator, Path
from lockstep.words import nearest, shortened


def validate(data: Any, shape: Shape, locator: Locator) -> tuple[Any, list[Finding]]:
    """Return what can be used of the data, INVALID where nothing can, and everything that is wrong with it.

    A value that can only have meant one thing is used as that, with its finding, so that later checks see it too.
    """
    validation = _Validation(locator)
    return validation.read(data, shape, ()), validation.findings


class _Validation:
    def __init__(self, locator: Locator) -> None:
        self._locator = locator
        self._readers: Mapping[type, Callable[[Any, Any, Path], Any]] = {
            Kind: self._single,
            Record: self._record,
            Table: self._table,
            Items: self._items,
            WordOr: self._word_or,
            Free: self._free,
        }
        self.findings: list[Finding] = []

    def read(self, value: Any, shape: Shape, path: Path) -> Any:
        if value is UNREADABLE:
            return INVALID
        return self._readers[type(shape)](value, shape, path)

    def _single(self, value: Any, kind: Kind, path: Path) -> Any:
        raw = None if isinstance(value, str) else self._locator.raw(path)
        try:
            return kind.read(value, raw)
        except Refused as refused:
            self._refuse(refused, path, self._locator.value(path))
            return refused.instead

    def _record(self, value: Any, record: Record, path: Path) -> Any:
        if not isinstance(value, Mapping):
            self._refuse(wrong_type(value, record.what), path, self._locator.value(path))
            return INVALID
        read: dict[str, Any] = {}
        meant: dict[str, Any] = {}
        for key, item in value.items():
            field = record.fields.get(key) if isinstance(key, str) else None
            if field is not None:
                read[key] = self.read(item, field.shape, (*path, key))
            elif near := self._unknown_key(key, value, record, path):
                meant[near] = self._as_meant(item, record.fields[near].shape, (*path, key))
        read = meant | read
        missing = [key for key, field in record.fields.items() if key not in read and _needed(key, field, value)]
        for key in missing:
            self._missing_key(key, record.fields[key], record, path)
        usable = {key: item for key, item in read.items() if item is not INVALID}
        if missing or len(usable) < len(read):
            return Partial(usable) if record.lenient else INVALID
        if record.problem and (message := record.problem(read)):
            what, _, expected = message.partition(": expected ")
            hint = f"expected {expected}" if expected else None
            self._refuse(Refused(refusal.NO_TOLERATION, what, hint), path, self._locator.value(path))
            return INVALID
        return read

    def _unknown_key(self, key: Any, value: Mapping[Any, Any], record: Record, path: Path) -> str | None:
        """Refuse a key; return the one that was probably meant."""
        near = nearest(str(key), [name for name in record.fields if name not in value])
        hint = f"did you mean '{near}'?" if near else f"expected {', '.join(record.fields)}"
        refused = Refused(refusal.UNKNOWN_KEY, f"unknown key '{shortened(str(key))}' in {record.what}", hint)
        self._refuse(refused, (*path, key), self._locator.key((*path, key)))
        return near

    def _as_meant(self, value: Any, shape: Shape, path: Path) -> Any:
        """Return a single value under a misspelt key where it is right, INVALID where the key's finding must do."""
        if value is UNREADABLE or not isinstance(shape, Kind):
            return INVALID
        try:
            return shape.read(value, None if isinstance(value, str) else self._locator.raw(path))
        except Refused:
            return INVALID

    def _missing_key(self, key: str, field: Field, record: Record, path: Path) -> None:
        expected = field.shape.expected if isinstance(field.shape, Kind) else field.shape.what  # type: ignore[union-attr]  # no required field is a WordOr
        hint = f"expected {key}: {expected}" + (f", or one for each of {field.unless_in}" if field.unless_in else "")
        refused = Refused(refusal.MISSING_KEY, f"{record.what} lacks '{key}'", hint)
        self._refuse(refused, path, self._locator.key(path))

    def _table(self, value: Any, table: Table, path: Path) -> Any:
        if not isinstance(value, Mapping):
            self._refuse(wrong_type(value, f"a mapping of {table.what}"), path, self._locator.value(path))
            return INVALID
        if not value and not table.empty:
            return self._empty(table.what, path)
        read: dict[str, Any] = {}
        complete = True
        for key, item in value.items():
            name = self._key(key, table.key, (*path, key))
            entry = self.read(item, table.value, (*path, key))
            if INVALID in (name, entry):
                complete = False
            else:
                read[name] = entry
        if complete or table.lenient:
            return read
        return INVALID

    def _key(self, key: Any, kind: Kind, path: Path) -> Any:
        try:
            return kind.read(key, None if isinstance(key, str) else self._raw_key(key, path))
        except Refused as refused:
            self._refuse(refused, path, self._locator.key(path))
            return refused.instead

    def _items(self, value: Any, items: Items, path: Path) -> Any:
        if not isinstance(value, list | tuple):
            expected = f"a list of {items.what}"
            hint = f"write it as a list: [{shortened(value)}]" if isinstance(value, str) else None
            refused = wrong_type(value, expected)
            self._refuse(Refused(refused.rule, refused.message, hint or refused.hint), path, self._locator.value(path))
            return INVALID
        if not value and not items.empty:
            return self._empty(items.what, path)
        read = [self.read(item, items.item, (*path, index)) for index, item in enumerate(value)]
        if any(item is INVALID for item in read):
            return INVALID
        if items.unique and len(set(read)) < len(read):
            for index in sorted(set(range(len(read))) - {read.index(item) for item in set(read)}):
                refused = Refused(refusal.REPEATED_ITEM, f"'{read[index]}' is there twice", "name it once")
                self._refuse(refused, (*path, index), self._locator.value((*path, index)))
        return read

    def _empty(self, what: str, path: Path) -> Any:
        refused = Refused(refusal.MISSING_KEY, f"'{path[-1]}' is empty", f"expected {what}, one at least")
        self._refuse(refused, path, self._locator.value(path))
        return INVALID

    def _word_or(self, value: Any, shape: WordOr, path: Path) -> Any:
        if value == shape.word:
            return value
        if isinstance(value, str) and nearest(value, [shape.word]):
            self._refuse(
                Refused(refusal.UNKNOWN_WORD, f"'{value}' is not {shape.shape.what}", f"did you mean {shape.word}?"),
                path,
                self._locator.value(path),
            )
            return shape.word
        if value is None or value is False:
            refused = Refused(
                refusal.WRONG_TYPE,
                f"{written(value, self._locator.raw(path)) or 'nothing'} is not {shape.shape.what}",
                f"write {shape.word} where none is wanted",
            )
            self._refuse(refused, path, self._locator.value(path))
            return INVALID
        return self._record(value, shape.shape, path)

    def _free(self, value: Any, shape: Free, path: Path) -> Any:
        if not isinstance(value, Mapping):
            self._refuse(wrong_type(value, f"a mapping of {shape.what}"), path, self._locator.value(path))
            return INVALID
        return value if self._plain(value, path, {}) else INVALID

    def _plain(self, value: Any, path: Path, seen: dict[int, bool]) -> bool:
        """Return whether JSON can hold a value, at any depth; what aliases share is looked at once."""
        match value:
            case None | bool() | int() | str():
                return True
            case float() if isfinite(value):
                return True
            case float() | date():
                self._refuse(needs_quotes(value, self._locator.raw(path)), path, self._locator.value(path))
                return False
            case Mapping() | list() | tuple():
                if id(value) not in seen:
                    seen[id(value)] = True
                    seen[id(value)] = self._plain_children(value, path, seen)
                return seen[id(value)]
        return False

    def _plain_children(self, value: Any, path: Path, seen: dict[int, bool]) -> bool:
        good = True
        for key, item in value.items() if isinstance(value, Mapping) else enumerate(value):
            if isinstance(value, Mapping) and not isinstance(key, str):
                refused = needs_quotes(key, self._raw_key(key, (*path, key)))
                self._refuse(refused, (*path, key), self._locator.key((*path, key)))
                good = False
            good = self._plain(item, (*path, key), seen) and good
        return good

    def _raw_key(self, key: Any, path: Path) -> str:
        return self._locator.raw_key(path) or written(key, None)

    def _refuse(self, refused: Refused, path: Path, place: Place | None) -> None:
        shown = tuple(
            part if isinstance(part, str | int) and not isinstance(part, bool) else str(part) for part in path
        )
        self.findings.append(
            Finding(refused.rule, Severity.ERROR, shown, refused.message, refused.hint, refused.fix, place),
        )


def _needed(key: str, field: Field, record: Mapping[Any, Any]) -> bool:
    """Return whether a record that lacks a key may not."""
    if field.unless_in is None:
        return field.required
    entries = record.get(field.unless_in)
    each_has = isinstance(entries, Mapping) and all(
        isinstance(entry, Mapping) and key in entry for entry in entries.values()
    )
    return field.required and not (entries and each_has)
