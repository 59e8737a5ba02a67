"""Files that people already have: each by the rules of its area, and all of them together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from lockstep.catalog.builds import Build, resolve
from lockstep.finding import Finding, Place, Severity
from lockstep.fleet.load import Loaded
from lockstep.fleet.plan import PoolPlan
from lockstep.fleet.text import source
from lockstep.kubelet.problem import CommandLineError, KubeletConfigError
from lockstep.rules.checked import Checked
from lockstep.rules.given.config_toml import ConfigToml
from lockstep.rules.given.context import Context
from lockstep.rules.given.kinds import Kind
from lockstep.rules.given.kubelet import KubeletFile, KubeletLine
from lockstep.rules.given.manifests import read_stream
from lockstep.rules.given.open_toml import open_toml
from lockstep.rules.given.read import Given
from lockstep.rules.given.runtime_class import RuntimeClassManifest
from lockstep.rules.given.text_places import within
from lockstep.rules.given.together import Together
from lockstep.rules.registry import judged

UNKNOWN_FILE = "LW030"
UNREADABLE_KUBELET = "LW300"
UNREADABLE_LINE = "LW329"
COMMAND_LINE = "--command-line"
TEMPLATE = "{{"
_BINARY_PATH = re.compile(r"^[ \t]*BINARY_PATH_NAME[ \t]*:[ \t]*(.*?)[ \t]*$", re.MULTILINE)
"""Source: Microsoft Learn, "sc.exe qc"."""
_EXPECTED = (
    "expected a description (lockstep_fleet), a config.toml (version and [plugins]), a KubeletConfiguration, or "
    "RuntimeClasses (apiVersion and kind)"
)


def judge(
    files: Sequence[tuple[Given, Kind]], command_line: str | None, said: Context, loaded: Sequence[Loaded]
) -> Checked:
    """Return what is wrong with files of these kinds, alone and together with the descriptions."""
    reading = _Reading(_completed(said, loaded))
    for given, kind in files:
        reading.add(given, kind)
    if command_line is not None:
        reading.add_line(command_line)
    return reading.judged(loaded, said)


@dataclass
class _Reading:
    """Collects what the files are, and what is wrong with them as files."""

    context: Context
    configs: list[ConfigToml] = field(default_factory=list)
    kubelets: list[KubeletFile] = field(default_factory=list)
    lines: list[KubeletLine] = field(default_factory=list)
    classes: list[RuntimeClassManifest] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    passed_over: int = 0
    unread: list[str] = field(default_factory=list)

    def add(self, given: Given, kind: Kind) -> None:
        """Take a file for what it is."""
        if kind is Kind.UNKNOWN:
            self._unknown(given)
            return
        self.sources[given.file] = given.content.decode("utf-8-sig", "replace")
        if kind is Kind.CONFIG_TOML:
            config, findings = open_toml(given.content, given.file, self.context)
            self.configs += [config] if config else []
            self.findings += findings
        elif kind is Kind.KUBELET:
            self._add_kubelet(given)
        else:
            self._add_objects(given)

    def add_line(self, text: str) -> None:
        """Take the command line of kubelet's service, by itself or in what sc.exe qc prints."""
        if printed := _BINARY_PATH.search(text):
            text = printed[1]
        self.sources[COMMAND_LINE] = text
        line = KubeletLine(COMMAND_LINE, text, self.context)
        try:
            line.parsed  # noqa: B018 - it is read here, so that rules need not
        except CommandLineError as error:
            place = Place(COMMAND_LINE, 1, 1, max(len(text), 1))
            self.findings.append(Finding(UNREADABLE_LINE, Severity.ERROR, (), error.message, None, error.fix, place))
        else:
            self.lines.append(line)
            self.kubelets = [replace(file, line=line) for file in self.kubelets]

    def judged(self, loaded: Sequence[Loaded], said: Context) -> Checked:
        """Return what every rule finds."""
        findings = list(self.findings)
        for area, subjects in (
            ("config_toml", self.configs),
            ("kubelet.file", self.kubelets),
            ("kubelet.line", self.lines),
            ("runtime_class", self.classes),
        ):
            for subject in subjects:
                findings += judged(area, subject)
        together = Together(
            tuple(self.configs),
            tuple(self.kubelets),
            tuple(self.lines),
            tuple(self.classes),
            tuple(loaded),
            self.context,
        )
        findings += judged("together", together)
        unsure = [config.file for config in self.configs if config.release is None or config.context.host is None]
        unsure += [file.file for file in self.kubelets if file.facts is None]
        return Checked(
            findings=tuple(findings),
            sources=self.sources,
            notes=tuple(self._notes(said)),
            unsure=frozenset(unsure),
            classes=0 if loaded else len(self.classes),
            subjects=len(self.configs) + len(self.kubelets) + len(self.lines) + len(self.classes),
        )

    def _unknown(self, given: Given) -> None:
        if given.found:
            self.passed_over += 1
            return
        text = given.content.decode("utf-8-sig", "replace")
        self.sources[given.file] = text
        message = f"{given.file} is {'empty' if not text.strip() else 'nothing that can be checked'}"
        self.findings.append(
            Finding(UNKNOWN_FILE, Severity.ERROR, (), message, _EXPECTED, place=Place(given.file, 1, 1))
        )

    def _add_kubelet(self, given: Given) -> None:
        file = KubeletFile(given.file, given.content, self.context)
        try:
            file.view  # noqa: B018 - it is read here, so that rules need not
        except KubeletConfigError as error:
            if given.found and TEMPLATE in self.sources[given.file]:
                self._pass_over(given)
                return
            place = within(self.sources[given.file], given.file, error.line or 1, error.column or 1)
            self.findings.append(Finding(UNREADABLE_KUBELET, Severity.ERROR, (), error.message, None, error.fix, place))
        else:
            self.kubelets.append(file)

    def _add_objects(self, given: Given) -> None:
        try:
            text = given.content.decode("utf-8-sig")
        except UnicodeDecodeError:
            self.findings += source.decode(given.content, given.file).findings
            return
        stream = read_stream(text, given.file, self.context)
        unread = any(finding.rule == source.NOT_YAML or TEMPLATE in text for finding in stream.findings)
        if given.found and unread:
            self._pass_over(given)
            return
        self.classes += stream.classes
        self.findings += stream.findings
        self.passed_over += stream.others
        if not stream.classes and not stream.findings and not given.found:
            message = f"{given.file} holds no RuntimeClass"
            self.findings.append(
                Finding(UNKNOWN_FILE, Severity.ERROR, (), message, _EXPECTED, place=Place(given.file, 1, 1))
            )

    def _pass_over(self, given: Given) -> None:
        """Leave out a file of a folder that cannot be read: nobody said that it is to be checked."""
        template = TEMPLATE in self.sources.pop(given.file)
        reason = "it looks like a template, of Helm perhaps" if template else "it is not YAML"
        self.unread.append(f"{given.file} was passed over: {reason}")

    def _notes(self, said: Context) -> Iterator[str]:
        context = self.context
        if self.configs and context.containerd is None:
            yield "what a containerd release refuses or ignores was not checked: name it with --containerd 2.3.4"
        if self.configs and context.host is None:
            yield "whether the pause image suits the node was not checked: name its Windows with --host ltsc2022"
        if (self.kubelets or self.lines) and context.kubernetes is None:
            yield "kubelet's configuration was not checked: name its release with --kubernetes 1.36.1"
        taken = [
            f"{name} {value}"
            for name, value, given in (
                ("containerd", context.containerd, said.containerd),
                ("Kubernetes", context.kubernetes, said.kubernetes),
                ("host", context.host.alias if context.host else None, said.host),
            )
            if value and not given
        ]
        if taken and (self.configs or self.kubelets or self.lines):
            yield f"as the description says: {', '.join(taken)}"
        if self.passed_over:
            several = self.passed_over > 1
            what = "files or objects of other kinds were" if several else "file or object of another kind was"
            yield f"{self.passed_over} {what} passed over"
        yield from self.unread


def _completed(said: Context, loaded: Sequence[Loaded]) -> Context:
    """Return what was said, and what was not as the descriptions have it, where all their pools have the same."""
    pools = [pool for one in loaded if one.plan for pool in one.plan.pools.values()]
    return Context(
        said.containerd or _only(pool.containerd.version for pool in pools),
        said.kubernetes or _only(pool.kubelet.version for pool in pools),
        said.host or _host(pools),
    )


def _only(values: Iterator[str]) -> str | None:
    different = set(values)
    return different.pop() if len(different) == 1 else None


def _host(pools: Sequence[PoolPlan]) -> Build | None:
    label = _only(pool.host for pool in pools)
    return resolve(label) if label else None
