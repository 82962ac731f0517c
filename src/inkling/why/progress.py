"""How far a pattern got: rows, candidates and partial matches for each of its parts, then what the clauses left.

Every count is the number of matches of an event that consists of the first parts alone; so under NEXT and STRICT they
are the successors that the pattern itself selects.

Counts of parts of a pattern: each question is an event of its own, and all of them run as one program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from inkling.errors import InputError, NotSupportedYet, nearest
from inkling.evaluators.certain import run_plan
from inkling.local import IngestedInputs
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns.disjuncts import Disjunct, disjuncts_of, on_its_own, part_event
from inkling.logical.patterns.moments import happens_without_events
from inkling.logical.plan import can_be_empty
from inkling.logical.printing.text import PartTexts, Wording, expr_text, span_text, window_text
from inkling.logical.recursion import dependencies_of
from inkling.logical.rewrites.rules import rewrite
from inkling.model.batch import MatchBatch
from inkling.physical.planner import plan_program

_OURS = "\ue000"
"""Begins the names of events that no program writes."""


@dataclass(slots=True)
class Questions:
    """Events to be counted beside a program's own, by the names they are given here."""

    asked: list[p.EventPlan] = field(default_factory=list)

    def ask(self, event: p.EventPlan) -> str:
        """Counts the matches of an event that reads what the program's events read."""
        name = f"{_OURS}{len(self.asked)}"
        self.asked.append(replace(event, name=name, schema=replace(event.schema, name=name)))
        return name


def asked_for(name: str, program: p.ProgramPlan) -> p.EventPlan:
    """The event of that name, if it can be explained."""
    event = program.event(name)
    if event is None:
        names = [one.name for one in program.events]
        close = nearest(name, names, n=1)
        raise InputError.of(
            "INK0561",
            f"the program has no event called `{name}`",
            notes=(f"its events are {', '.join(names)}",) if names else (),
            helps=(f"write `{close[0]}`",) if close else (),
        )
    if event.forecast is not None:
        raise NotSupportedYet.of(
            "INK0453",
            f"`{name}` is a forecast, which `why` does not support yet",
            notes=("a forecast shows the prediction of its model after each event",),
            helps=(
                f"`inkling why` shows how far `{event.forecast.of}` got",
                "`inkling model show MODEL --forecast PROGRAM` lists the forecasts of each state",
            ),
        )
    return event


def needed_part(program: p.ProgramPlan, event: p.EventPlan) -> p.ProgramPlan:
    """An event with everything it depends on."""
    needed = dependencies_of(event, program) | {event.name}
    return replace(program, events=tuple(one for one in program.events if one.name in needed))


def answers(
    program: p.ProgramPlan, ingested: IngestedInputs, asked: Sequence[p.EventPlan] = ()
) -> dict[str, MatchBatch]:
    """What every event of a program has found, and every question."""
    whole = rewrite(replace(program, events=(*program.events, *asked))).plan
    return run_plan(plan_program(whole), ingested.sources, ingested.facts, ingested.context)


MOST_TRIED = 20_000_000
"""Pairs that are tried to count the matches that WITHIN leaves out."""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of the account: a part, or a clause that leaves matches out."""

    way: str | None  # which declaration or alternative it belongs to; None where there is one, and for all together
    what: str
    rows: int | None  # of what the part reads
    candidates: int | None  # of them, that pass what the part asks of them alone
    matches: int | None  # so far, none of them too long; None where the pattern cannot be cut here
    too_long: int | None = None  # left out by WITHIN here; None where nobody counted
    obstacle: str | None = None  # in words, where this is the first step that leaves nothing


@dataclass(frozen=True, slots=True)
class PatternProgress:
    """The account of one event."""

    event: str
    steps: tuple[Step, ...]
    n_results: int

    @property
    def obstacles(self) -> tuple[str, ...]:
        """What stood in the way: the first step of each way that leaves nothing."""
        return tuple(
            step.obstacle if step.way is None else f"{step.way}: {step.obstacle}"
            for step in self.steps
            if step.obstacle is not None
        )


def progress_of(
    event: p.EventPlan, program: p.ProgramPlan, ingested: IngestedInputs, written: p.EventPlan | None = None
) -> PatternProgress:
    """How far an event got; the program holds it and what it depends on.

    In a world of an uncertain program an event is changed a little; `written` is the event as its user wrote it.
    """
    written = event if written is None else written
    drafts = [
        _DisjunctDraft(event, way, PartTexts.of(written), as_written)
        for way, as_written in zip(disjuncts_of(event), disjuncts_of(written), strict=True)
    ]
    closing = _clauses(event, written)
    questions = Questions()
    for draft in drafts:
        draft.ask(questions)
    asked = [questions.ask(clause) for _, clause in closing]
    found = {name: len(matches) for name, matches in answers(program, ingested, questions.asked).items()}
    rows = {name: len(table) for name, table in ingested.sources.items()}
    counted = {**rows, **found}
    later = Questions()
    for draft in drafts:
        draft.ask_how_many_were_too_long(later, counted)
    if later.asked:
        counted |= {name + "'": len(table) for name, table in answers(program, ingested, later.asked).items()}
    steps = [step for draft in drafts for step in draft.steps(counted)]
    for (words, _), name in zip(closing, asked, strict=True):
        steps.append(Step(None, words, None, None, counted[name]))
    steps.append(Step(None, f"PER {event.per.value}", None, None, found[event.name]))
    return PatternProgress(event.name, tuple(_with_obstacle(steps)), found[event.name])


def _clauses(event: p.EventPlan, written: p.EventPlan) -> list[tuple[str, p.EventPlan]]:
    """What comes after WITHIN, NOT and HAVING, in order; each with the event that has come so far."""
    own = replace(event, per=p.Per.MATCH, confidence=None, top=None, demand=None)
    bare = replace(own, keep=None, restart=False, consumption=None, on_change=False)
    steps = []
    if isinstance(event.pattern, p.Disjunction):
        names = Wording.of(written)
        having = tuple(part for condition in event.having for part in e.conjuncts(condition))
        as_written = (part for condition in written.having for part in e.conjuncts(condition))
        steps.append(("all together", replace(bare, having=())))
        for number, condition in enumerate(as_written, start=1):
            steps.append((f"HAVING {expr_text(condition, names)}", replace(bare, having=having[:number])))
    if event.keep is not None:
        steps.append((f"KEEP FOR {span_text(event.keep)}", replace(bare, keep=event.keep)))
    if event.restart:
        steps.append(("CONSUME RESTART", own))
    if event.consumption is not None:
        steps.append((f"CONSUME {event.consumption.selection.value}", own))
    if event.on_change:
        steps.append(("ON CHANGE", own))
    return steps


@dataclass(slots=True)
class _Line:
    """A step in the making: the questions whose answers it needs."""

    what: str
    obstacle: str
    sources: tuple[str, ...] = ()
    candidates: str | None = None
    matches: str | None = None
    without_limit: str | None = None
    may_be_nothing: bool = False  # no match so far need not be the end of it


@dataclass(slots=True)
class _DisjunctDraft:
    event: p.EventPlan
    way: Disjunct
    texts: PartTexts
    written: Disjunct
    lines: list[_Line] = field(default_factory=list)

    def ask(self, questions: Questions) -> None:
        way, texts, written = self.way, self.texts, self.written
        for place, part in enumerate(way.parts):
            line = _Line(texts.part(written.parts[place]), self._no_hop(place), self._sources(part))
            alone = _candidate_pattern(part)
            if alone is not None:
                line.candidates = questions.ask(part_event(replace(self.event, head=()), "", on_its_own(alone)))
            so_far = way.upto(place + 1)
            if _can_be_cut(part, so_far):
                line.matches = questions.ask(self._event(way.framed(so_far)))
            line.may_be_nothing = can_be_empty(so_far)
            self.lines.append(line)
        for number, absent in enumerate(written.absences, start=1):
            text = texts.part(absent)
            line = _Line(text, f"every match of the other parts violates `{text}`")
            line.matches = questions.ask(self._event(way.framed(way.with_absences(number))))
            self.lines.append(line)
        whole = way.with_absences(len(way.absences))
        if isinstance(way.whole, p.Except) and isinstance(written.whole, p.Except):
            whole, text = way.whole, f"EXCEPT {texts.part(written.whole.other)}"
            line = _Line(text, f"`{text}` excludes every match", matches=questions.ask(self._event(way.framed(whole))))
            self.lines.append(line)
        for number, condition in enumerate(written.having, start=1):
            text = f"HAVING {texts.condition(condition)}"
            event = part_event(self.event, "", way.framed(whole), way.having[:number], span=self._span)
            self.lines.append(_Line(text, f"no match satisfies `{text}`", matches=questions.ask(event)))

    def ask_how_many_were_too_long(self, questions: Questions, counted: Mapping[str, int]) -> None:
        """Let the last part of each partial match come at any time, where that is not too much to count."""
        if not self.way.limits:
            return
        for place, part in enumerate(self.way.parts):
            line = self.lines[place]
            if line.matches is None or isinstance(part, p.Deadline):
                continue
            if place == 0:
                line.without_limit = questions.ask(self._event(self.way.upto(1))) + "'"
                continue
            before = self.lines[place - 1].matches
            if before is None or line.candidates is None:
                continue
            if counted[before] * counted[line.candidates] <= MOST_TRIED:
                left = self.way.framed(self.way.upto(place))
                line.without_limit = questions.ask(self._event(self.way.joined(left, part))) + "'"

    def steps(self, counted: Mapping[str, int]) -> list[Step]:
        made: list[Step] = []
        is_stuck = False
        for line in self.lines:
            matches = None if line.matches is None else counted[line.matches]
            too_long = None
            if matches is not None and line.without_limit is not None:
                too_long = counted[line.without_limit] - matches
            rows = sum(counted[source] for source in line.sources) if line.sources else None
            candidates = None if line.candidates is None else counted[line.candidates]
            step = Step(self.way.name, line.what, rows, candidates, matches, too_long)
            if matches == 0 and not is_stuck and not line.may_be_nothing:
                is_stuck = True
                step = replace(step, obstacle=self._obstacle(line, step))
            made.append(step)
        return made

    def _obstacle(self, line: _Line, step: Step) -> str:
        if step.rows == 0:
            return f"the data has no `{' | '.join(line.sources)}`"
        if step.candidates == 0:
            return f"no event satisfies `{line.what}`"
        limit = " and ".join(f"WITHIN {window_text(limit)}" for limit in self.written.limits)
        if limit and step.too_long is None and line.sources:
            return f"{line.obstacle} {limit}"
        if step.too_long:
            matches = "the only match" if step.too_long == 1 else f"all {step.too_long:,} matches"
            return f"`{limit}` excludes {matches} up to `{line.what}`"
        return line.obstacle

    def _no_hop(self, place: int) -> str:
        now = self.texts.part(self.written.parts[place])
        if not place:
            return f"no `{now}` happens"
        before = self.texts.short(self.written.parts[place - 1])
        match self.way.whole:
            case p.Sequence(policy=p.Policy.ANY):
                return f"no `{now}` follows a `{before}`"
            case p.Sequence(policy=p.Policy.NEXT):
                return f"no `{now}` is the next event after a `{before}`"
            case p.Sequence():
                return f"no `{now}` directly follows a `{before}`"
            case p.Parallel():
                return f"no `{now}` overlaps a `{before}`"
            case p.Related(relations=relations):
                return f"no `{before}` {' or '.join(relations)} a `{now}`"
            case _:
                return f"no `{now}` matches together with a `{before}`"

    def _event(self, pattern: p.Pattern) -> p.EventPlan:
        return part_event(self.event, "", pattern, span=self._span)

    @property
    def _span(self) -> int | None:
        return next((frame.slot for frame in reversed(self.way.frames) if frame.slot is not None), None)

    def _sources(self, part: p.Part) -> tuple[str, ...]:
        if isinstance(part, p.Deadline | p.StreamStart):
            return ()
        inner = part.pattern if isinstance(part, p.Absent) else part
        return tuple(sorted({source for leaf in p.leaves(inner) for source in leaf.sources or self.event.scope}))


def _candidate_pattern(part: p.Part) -> p.Pattern | None:
    """What the part is by itself; None where that is no event."""
    match part:
        case p.Absent() | p.Deadline() | p.StreamStart() | p.Quantified():
            return None
        case p.Sliding(leaf=leaf):
            return leaf
        case _:
            return None if happens_without_events(part) else part


def _can_be_cut(part: p.Part, so_far: p.Pattern) -> bool:
    """Whether the parts up to here can be looked for alone: not after a COMPLEMENT, nor without any event."""
    return not isinstance(part, p.OtherRun) and not happens_without_events(so_far)


def _with_obstacle(steps: list[Step]) -> list[Step]:
    """With the last clause named that left nothing, if everything before it left something."""
    if any(step.obstacle for step in steps):
        return steps
    for place, step in enumerate(steps):
        if step.matches == 0 and step.way is None and step.rows is None:
            return [*steps[:place], replace(step, obstacle=f"`{step.what}` removes every match"), *steps[place + 1 :]]
    return steps
