"""What a controller does with a node, made small: plan from what is read, apply, and again after an interruption."""

from __future__ import annotations

from dataclasses import dataclass

from tests.node.support.cases import PROGRAM, TRANSACTIONS, ServiceBefore

from lockstep.node.operations import (
    Operation,
    Program,
    check_program,
    content_of,
    define_service,
    read_file,
    read_registry,
    read_service,
    read_transaction,
    remove_file,
    restart_service,
    write_file,
    write_registry,
)
from lockstep.node.session import Applied, Session

USERS_TEXT = b"run\n# the user's own line\n"
PLANNED_LINE = b"# planned\n"
NEW_FILE = b"new = true\n"


@dataclass(frozen=True, slots=True)
class Operator:
    """Plans for one service.

    A line in its configuration, a new file, a file that goes, a value of the registry, a flag on its command line, and
    a variable of its process.
    """

    name: str
    check: str = "planned"
    """What the program has to show in the end; it shows `planned`."""

    @property
    def config(self) -> str:
        """The file that holds the user's text."""
        return f"C:\\{self.name}\\web.conf"

    @property
    def new(self) -> str:
        """The file that is not there before."""
        return f"C:\\{self.name}\\new.toml"

    @property
    def gone(self) -> str:
        """The file that is not there after."""
        return f"C:\\{self.name}\\gone.toml"

    @property
    def key(self) -> str:
        """The key of the registry that is not there before."""
        return f"HKLM\\SOFTWARE\\{self.name}\\new"

    @property
    def journal(self) -> str:
        """Where the transaction's journal lies."""
        return f"{TRANSACTIONS}\\{self.name}.json"

    def command_line(self, *, planned: bool) -> str:
        """Return the service's command line before and after."""
        flag = " --planned" if planned else ""
        return f'"{PROGRAM}" service {self.name} "{self.config}"{flag}'

    def before(self) -> tuple[dict[str, bytes], ServiceBefore]:
        """Return the files and the service before anything is done."""
        files = {self.config: USERS_TEXT, self.gone: b"old = true\n"}
        return files, ServiceBefore(self.name, self.command_line(planned=False), running=True)

    def files_after(self) -> dict[str, bytes]:
        """Return all files that are there when the plan was carried out."""
        return {self.config: USERS_TEXT + PLANNED_LINE, self.new: NEW_FILE}

    def plan(self, session: Session) -> list[Operation]:
        """Read, and return the operations that are left to do: none where everything is as planned."""
        reads = [read_file(path) for path in (self.config, self.new, self.gone)]
        others = [read_registry(self.key, "planned"), read_service(self.name), read_transaction(self.name)]
        *found, value, service, pending = session.read([*reads, *others])
        config, new, gone = (content_of(result) for result in found)
        wanted = config if config and PLANNED_LINE in config else (config or b"") + PLANNED_LINE
        planned = self.command_line(planned=True)
        definition = {"binary_path": planned, "environment": ["PLANNED=1"], "start_type": service["start_type"]}
        as_planned = config == wanted and new == NEW_FILE and gone is None and value.get("value") == 1
        defined = all(service[key] == definition[key] for key in definition)
        if as_planned and defined and not pending["pending"]:
            return []
        # What is never shown is not waited for; a busy machine takes its time for what is.
        limit = 10 if self.check == "planned" else 1
        return [
            write_file(self.config, wanted, replaces=config),
            write_file(self.new, NEW_FILE, replaces=new),
            remove_file(self.gone, replaces=gone),
            write_registry(self.key, "planned", "dword", 1, replaces=value.get("value")),
            define_service(self.name, definition, replaces=service["binary_path"]),
            restart_service(self.name, timeout_seconds=20, settle_seconds=0),
            check_program(Program(PROGRAM), ["arguments", "planned"], must_contain=[self.check], timeout_seconds=limit),
        ]

    def carry_out(self, session: Session) -> Applied | None:
        """Plan and apply once; None where nothing was left to do."""
        operations = self.plan(session)
        return session.apply(self.name, operations) if operations else None
