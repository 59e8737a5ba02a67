"""What a lockstep_node_info task does: one read of everything, told as facts, and known to the tasks that follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockstep.ansible.errors import TaskError
from lockstep.ansible.node import ConnectionBrokeError
from lockstep.ansible.node_info.questions import Answers, answered, elsewhere, questions
from lockstep.ansible.node_info.services import service_facts
from lockstep.ansible.node_info.windows import windows_facts
from lockstep.node.errors import AgentError, NodeError
from lockstep.node.operations import Operation, Result
from lockstep.node.session import Session

FACT = "lockstep_node"


def observe(session: Session, arguments: Mapping[str, Any], *, check_mode: bool) -> dict[str, Any]:  # noqa: ARG001 - reads in check mode as it does otherwise
    """Return the task's result; `ahead` among the arguments is what is read for others in the same request.

    Raises TaskError where the node does not answer, or is no Windows.
    """
    ahead = list(arguments.get("ahead", ()))
    own = questions(arguments, ahead)
    answers = answered(own, ahead, _read(session, [*own.values(), *ahead]))
    if more := elsewhere(answers, arguments):
        answers = Answers({**answers.results, **dict(zip(more, _read(session, list(more.values())), strict=True))})
    if not answers("system"):
        raise TaskError("the node does not say which Windows it is", {"it said": answers.errors()["system"]})
    node = {**windows_facts(answers), **service_facts(answers, arguments), "errors": answers.errors()}
    return {"changed": False, "node": node, "ansible_facts": {FACT: node}}


def _read(session: Session, operations: list[Operation]) -> list[Result]:
    try:
        return session.observe(operations)
    except NodeError as error:
        facts = {"it said": error.message, "do": "remove the cause, then run again"}
        raise TaskError("the node cannot be read", facts) from error
    except ConnectionBrokeError as error:
        facts = {"it said": str(error), "do": "run again when the node can be reached"}
        raise TaskError("the connection broke while the node was read, so nothing was done", facts) from error
    except AgentError as error:
        raise TaskError(str(error)) from error
