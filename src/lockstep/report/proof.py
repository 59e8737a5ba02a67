"""The proof for people: one row for each class and node, and a last line that says whether all agree."""

from __future__ import annotations

from lockstep.report.table import table
from lockstep.verify.agreement import Agreement, Row

HEAD = ("Class", "node", "handler there", "options", "taints met", "runs")


def proof(agreement: Agreement, width: int) -> str:
    """Return the proof as text, problems last, each beside the class and node that it concerns."""
    shown = [row for row in agreement.rows if row.selected or row.problems]
    lines = table(HEAD, [_cells(row) for row in shown], width) if shown else []
    lines += _left_alone(agreement, width)
    problems = [*agreement.problems, *_row_problems(agreement)]
    if problems:
        lines += ["", *(line for problem in problems for line in table(("-", problem), [], width))]
    return "\n".join([*lines, "", _verdict(agreement, len(problems))]) + "\n"


def _cells(row: Row) -> list[str]:
    if not row.selected:
        return [row.class_name, row.node, "not selected", "", "", "no"]
    options, taints = ("-" if count is None else str(count) for count in (row.options, row.taints))
    runs = "no" if row.problems else "yes"
    return [row.class_name, row.node, "yes" if row.handler_there else "no", options, taints, runs]


def _left_alone(agreement: Agreement, width: int) -> list[str]:
    """Name what each class rightly does not select, one line a class."""
    alone: dict[str, list[str]] = {}
    for row in agreement.rows:
        if not row.selected and not row.problems:
            alone.setdefault(row.class_name, []).append(row.node)
    rows = [(name, "does not select", ", ".join(nodes)) for name, nodes in alone.items()]
    return ["", *table(rows[0], rows[1:], width)] if rows else []


def _row_problems(agreement: Agreement) -> list[str]:
    return [f"{row.class_name} on {row.node}: {text}" for row in agreement.rows for text in row.problems]


def _verdict(agreement: Agreement, problems: int) -> str:
    counted = f"{_count(agreement.classes, 'class', 'classes')}, {_count(agreement.nodes, 'node', 'nodes')}"
    if agreement.agrees:
        return f"{counted}: description, nodes and manifests agree."
    return f"{counted}: {_count(problems, 'disagreement', 'disagreements')}."


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
