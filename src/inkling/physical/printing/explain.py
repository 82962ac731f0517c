"""A physical plan as stable text: numbered lines, each built from the lines before it.

What stands above `Shuffle` is done by Spark itself, what stands below it by Python workers; workers also put the rows
of uncertain streams into the form that their evaluator takes, first of all.

Conditions on rows in the words of the language.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from inkling.analysis.choice import Evaluator
from inkling.analysis.uncertainty import kind_of
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.expr import ColumnOf, Expr, FactColumn, KeyColumn, ListColumn, rebuilt
from inkling.logical.plan import StreamPlan
from inkling.logical.printing.text import Wording, expr_text, lookup_text
from inkling.physical.groups import TaskLayout, split_by_pattern
from inkling.physical.naming import fact_name
from inkling.physical.plan import Bit, EventStep, Input, PhysicalPlan, Stage
from inkling.physical.printing.verdicts import partition_text
from inkling.physical.sharing import largest_parts

Facts: TypeAlias = Mapping[str, FactColumn]
"""Physical name to what a look-up supplied under it."""


def row_text(expr: Expr) -> str:
    """A condition on one row."""
    return expr_text(plain(expr, {}))


def plain(expr: Expr, facts: Facts) -> Expr:
    """The expression with the names of the language: physical names carry a type after a bar."""
    match expr:
        case ColumnOf(column=column) if column in facts:
            return facts[column]
        case ColumnOf(column=column) | ListColumn(column=column) | KeyColumn(column=column):
            return replace(expr, column=column.rsplit("|", 1)[0])
        case e.Aggregate(column=str(column)):
            return replace(expr, column=column.rsplit("|", 1)[0])
        case _:
            return rebuilt(expr, lambda part: plain(part, facts))


SUMMED: dict[str, str] = {
    Evaluator.CHAIN: "the possible ticks of its events",
    Evaluator.QUERY: "the possible automaton states",
    Evaluator.RELATION: "the orders of recorded and lost events in which it is true",
    Evaluator.WORLDS: "the worlds with a result",
}
"""What the probability of a result is a sum over."""

TAKEN_AS: dict[str, str] = {
    Evaluator.CHAIN: "Intervals",
    Evaluator.QUERY: "Alternatives",
    Evaluator.RELATION: "Ends",
    Evaluator.WORLDS: "Worlds",
}
"""What rows of uncertain streams become for each evaluator."""


def explain_physical(plan: PhysicalPlan, layout: TaskLayout | None = None) -> str:
    """Every stage: what Spark reads, tests and shuffles, and which evaluator finds which event.

    With a layout, also what tasks of a batch share out among them.
    """
    lines = _Lines()
    for stage in plan.stages:
        _StageLines(plan.program, stage, lines).add_stage()
        if layout is not None:
            lines.written.append(_layout_text(stage, layout))
    return "\n".join(lines.written)


def _layout_text(stage: Stage, layout: TaskLayout) -> str:
    """How tasks divide a stage, if there are as many as can be."""
    groups = split_by_pattern(stage, len(stage.steps))
    keys = "keys" if stage.key_types else "slices of time" if stage.sliced else "nothing"
    patterns = "; ".join(", ".join(step.event.name for step in group.steps) for group in groups)
    match layout:
        case TaskLayout.KEY:
            return f"layout: tasks split {keys}"
        case TaskLayout.PATTERN:
            return f"layout: tasks split patterns: {patterns}"
        case TaskLayout.BOTH:
            return f"layout: tasks split {keys} and patterns: {patterns}"


@dataclass(slots=True)
class _Lines:
    written: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, step: str, details: str = "") -> str:
        name = f"p{self.count}"
        self.count += 1
        self.written.append(f"{name} := {step}" + (f"({details})" if details else ""))
        return name


@dataclass(frozen=True, slots=True)
class _StageLines:
    program: p.ProgramPlan
    stage: Stage
    lines: _Lines

    def add_stage(self) -> None:
        stage = self.stage
        self.lines.written.append(f"stage {stage.number}: {self._title()}")
        made_here = {step.event.name for step in stage.steps}
        inputs = [given for given in stage.inputs if given.source not in made_here]
        found = self.lines.add(f"Shuffle[{', '.join(self._input(given) for given in inputs)}]", self._shuffled(inputs))
        for given in inputs:
            found = self._late(found, given)
        lines: dict[str, str] = {}
        twins = dict(stage.sharing.twins)
        for part in largest_parts(stage.sharing):
            what = "pattern" if part.n_parts == 0 else f"first {part.n_parts} parts"
            self.lines.add(f"Shared[{found}]", f"{what} of {', '.join(part.events)}")
        for step in stage.steps:
            name = step.event.name
            if name in twins:
                results = self.lines.add(f"Renamed {name}[{lines[twins[name]]}]")
            else:
                results = self._step(found, step)
            lines[name] = results
            if step.is_uncertain and step.choice.evaluator in SUMMED:
                self.lines.add(f"Sum[{results}]", f"probabilities of {SUMMED[step.choice.evaluator]}")

    def _title(self) -> str:
        keys = dict.fromkeys(partition_text(self.stage, step) for step in self.stage.steps)
        by = "by " if self.stage.key_types else ""
        return by + "; ".join(keys)

    def _input(self, given: Input) -> str:
        add = self.lines.add
        stream = self.program.stream(given.source)
        found = add(f"{'Results' if given.is_derived else 'Read'}[{given.source}]")
        if stream is not None and stream.schema.uncertainty is not None:
            found = add(f"{self._taken_as()}[{found}]", kind_of(stream.schema.uncertainty).value)
        if stream is not None and stream.derived and not _derives_in_worker(given, stream):
            found = add(f"Derive[{found}]", ", ".join(column.name for column in stream.derived))
        for atom in given.atoms:
            near = given.near is not None and given.near.atom == atom.number
            found = add(f"{'JoinNear' if near else 'Join'}[{found}]", lookup_text(atom, _lookups(given)))
        if given.keep is not None:
            found = add(f"Keep[{found}]", expr_text(plain(given.keep, _facts_of(given.atoms)), _lookups(given)))
        return add(f"Test[{found}]", _bits_text(given.early)) if given.early else found

    def _taken_as(self) -> str:
        """What rows of uncertain streams are to the events of the stage."""
        chosen = {step.choice.evaluator for step in self.stage.steps if step.is_uncertain}
        return TAKEN_AS.get(chosen.pop(), "Uncertain") if len(chosen) == 1 else "Worlds"

    def _shuffled(self, inputs: list[Input]) -> str:
        columns: dict[str, None] = {}
        for given in inputs:
            columns.update(dict.fromkeys(_shuffled_columns(given, self.program.stream(given.source))))
        bits = f"{self.stage.n_bits} condition{'' if self.stage.n_bits == 1 else 's'} as bits"
        return f"{', '.join(['time', 'id', *columns])}; {bits}"

    def _late(self, found: str, given: Input) -> str:
        stream = self.program.stream(given.source)
        if stream is not None and stream.derived and _derives_in_worker(given, stream):
            derived = ", ".join(column.name for column in stream.derived)
            found = self.lines.add(f"Derive[{found}]", f"{given.name}: {derived}")
        if given.late:
            found = self.lines.add(f"Test[{found}]", _bits_text(given.late))
        if given.computed:
            values = [f"{one.name.rsplit('|', 1)[0]}: {row_text(one.expr)}" for one in given.computed]
            found = self.lines.add(f"Compute[{found}]", "; ".join(values))
        return found

    def _step(self, found: str, step: EventStep) -> str:
        worlds = step.choice.evaluator == Evaluator.WORLDS
        kind = (step.evaluator if worlds else step.choice.evaluator).capitalize()
        leaves = []
        names = Wording.of(step.event)
        facts = _facts_of(atom for leaf in p.leaves(step.event.pattern) for atom in leaf.atoms)
        for leaf in step.leaves:
            tests = [f"b{bit}" for bit in leaf.bits]
            tests += [expr_text(plain(condition, facts), names) for condition in (*leaf.by_key, *leaf.across)]
            sources = "|".join(self.stage.inputs[place].name for place in leaf.inputs)
            text = sources + (f"[{' AND '.join(tests)}]" if tests else "")
            if leaf.check is not None:
                checks = [f"b{bit}" for bit in leaf.check.bits]
                checks += [expr_text(plain(condition, facts), names) for condition in leaf.check.across]
                text += f" CHECK ({' AND '.join(checks)})"
            leaves.append(text)
        return self.lines.add(f"{kind} {step.event.name}[{found}]", ", ".join(leaves))


def _lookups(given: Input) -> Wording:
    return Wording(lookups={atom.number: atom.table for atom in given.atoms})


def _facts_of(atoms: Iterable[p.TableAtom]) -> Facts:
    return {
        fact_name(atom.number, column.name, column.type): FactColumn(atom.number, column.name, column.type)
        for atom in atoms
        for column in atom.columns
    }


def _bits_text(bits: tuple[Bit, ...]) -> str:
    return "; ".join(f"b{bit.number}: {row_text(bit.expr)}" for bit in bits)


def _derives_in_worker(given: Input, stream: StreamPlan) -> bool:
    """Whether a worker sees all rows of a key of the stream, and so can derive columns itself."""
    return bool(given.key) and given.key == stream.schema.key and not given.atoms


def _shuffled_columns(given: Input, stream: StreamPlan | None) -> tuple[str, ...]:
    """The columns that evaluators read or that derived columns and late conditions depend on."""
    wanted = {_logical(column) for column in given.columns} | set(given.key)
    computed = {_logical(one.name) for one in given.computed}
    for late in given.left_to_worker:
        wanted |= {_logical(part.column) for part in e.walk(late) if isinstance(part, e.ColumnOf)}
    wanted -= computed
    if stream is not None and stream.derived and _derives_in_worker(given, stream):
        derived = {column.name: column.expr for column in stream.derived}
        for expr in derived.values():
            wanted |= {
                part.column for part in e.walk(expr) if isinstance(part, e.ColumnOf | e.PreviousColumn | e.SinceChange)
            }
        wanted -= set(derived)
    return tuple(sorted(wanted))


def _logical(physical_name: str) -> str:
    return physical_name.rsplit("|", 1)[0]
