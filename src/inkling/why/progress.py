"""The progress of a pattern: rows, candidates and partial matches per part, then the matches left by each clause.

A count is the number of matches of an event made of the first parts of the pattern, with its selection policy. These
events, the `Questions`, run together as one program.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from inkling.errors import InputError, NotSupportedYet, nearest
from inkling.evaluators.certain import run_plan
from inkling.local import IngestedInputs
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.patterns.disjuncts import Disjunct, disjuncts_of, on_its_own, part_event
from inkling.logical.patterns.maximal import without_maximal
from inkling.logical.patterns.moments import happens_without_events
from inkling.logical.plan import can_be_empty
from inkling.logical.printing.text import PartTexts, Wording, expr_text, left_join_text, span_text, window_text
from inkling.logical.recursion import dependencies_of
from inkling.logical.rewrites.in_worlds import uncertain_events
from inkling.logical.rewrites.rules import rewrite
from inkling.model.batch import MatchBatch
from inkling.physical.planner import plan_program

_OURS = "\ue000"
"""Prefix of the names of counting events; no program can contain it."""


@dataclass(slots=True)
class Questions:
    """Counting events: their matches are counted next to those of the program's own events."""

    asked: list[p.EventPlan] = field(default_factory=list)

    def ask(self, event: p.EventPlan) -> str:
        """Adds an event, and returns the name under which its matches are counted."""
        name = f"{_OURS}{len(self.asked)}"
        self.asked.append(replace(event, name=name, schema=replace(event.schema, name=name)))
        return name


def asked_for(name: str, program: p.ProgramPlan) -> p.EventPlan:
    """The event with a name; raises an error if it cannot be explained."""
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
    if event.forecast is not None and name in uncertain_events(program):
        raise NotSupportedYet.of(
            "INK0453",
            f"`{name}` is a forecast over uncertain streams, which `why` does not support yet",
            notes=("it is the average of the forecasts of all worlds",),
            helps=(
                f"`inkling why` shows how far `{event.forecast.of}` got",
                "`inkling model show MODEL --forecast PROGRAM` lists the forecasts of each state",
            ),
        )
    return event


def needed_part(program: p.ProgramPlan, event: p.EventPlan) -> p.ProgramPlan:
    """The part of a program that an event depends on, with the event."""
    needed = dependencies_of(event, program) | {event.name}
    return replace(program, events=tuple(one for one in program.events if one.name in needed))


def answers(
    program: p.ProgramPlan, ingested: IngestedInputs, asked: Sequence[p.EventPlan] = ()
) -> dict[str, MatchBatch]:
    """The matches of all events of a program, and of the counting events `asked`."""
    whole = rewrite(replace(program, events=(*program.events, *asked))).plan
    return run_plan(plan_program(whole), ingested.sources, ingested.facts, ingested.context)


MOST_TRIED = 20_000_000
"""The most pairs to try in order to count the matches that WITHIN drops."""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a progress report: a part of the pattern, or a clause that drops matches."""

    way: str | None  # the declaration or alternative it belongs to; None if there is only one, or for all of them
    what: str
    rows: int | None  # of the sources of the part
    candidates: int | None  # rows that pass the conditions on single events
    matches: int | None  # partial matches within WITHIN; None if the pattern cannot be cut here
    too_long: int | None = None  # partial matches dropped by WITHIN; None if not counted
    obstacle: str | None = None  # in words, if this is the first step without matches


@dataclass(frozen=True, slots=True)
class PatternProgress:
    """The progress report of one event."""

    event: str
    steps: tuple[Step, ...]
    n_results: int

    @property
    def obstacles(self) -> tuple[str, ...]:
        """The first step without matches of each alternative, in words."""
        return tuple(
            step.obstacle if step.way is None else f"{step.way}: {step.obstacle}"
            for step in self.steps
            if step.obstacle is not None
        )


def progress_of(
    event: p.EventPlan, program: p.ProgramPlan, ingested: IngestedInputs, written: p.EventPlan | None = None
) -> PatternProgress:
    """The progress of an event; `program` has the event and what it depends on.

    In a world of an uncertain program, `event` is a rewritten event, and `written` the event in the user's words.
    """
    written = event if written is None else written
    every = replace(event, pattern=without_maximal(event.pattern))
    drafts = [
        _DisjunctDraft(every, way, PartTexts.of(written), as_written)
        for way, as_written in zip(disjuncts_of(every), disjuncts_of(written), strict=True)
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
    """The clauses after WITHIN, NOT and HAVING, each with the event up to and including it."""
    own = replace(event, per=p.Per.MATCH, confidence=None, top=None, demand=None)
    longest = replace(own, keep=None, restart=False, consumption=None, on_change=False)
    bare = replace(longest, pattern=without_maximal(event.pattern))
    steps = []
    if isinstance(event.pattern, p.Disjunction):
        names = Wording.of(written)
        having = tuple(part for condition in event.having for part in e.conjuncts(condition))
        as_written = (part for condition in written.having for part in e.conjuncts(condition))
        steps.append(("all together", replace(bare, having=())))
        for number, condition in enumerate(as_written, start=1):
            steps.append((f"HAVING {expr_text(condition, names)}", replace(bare, having=having[:number])))
    if bare.pattern is not event.pattern:
        steps.append(("MAXIMAL", longest))
    if event.keep is not None:
        steps.append((f"KEEP FOR {span_text(event.keep)}", replace(longest, keep=event.keep)))
    if event.restart:
        steps.append(("CONSUME RESTART", own))
    if event.consumption is not None:
        steps.append((f"CONSUME {event.consumption.selection.value}", own))
    if event.on_change:
        steps.append(("ON CHANGE", own))
    return steps


@dataclass(slots=True)
class _Line:
    """A step without its counts: the names of the counting events that provide them."""

    what: str
    obstacle: str
    sources: tuple[str, ...] = ()
    candidates: str | None = None
    matches: str | None = None
    without_limit: str | None = None
    may_be_nothing: bool = False  # zero matches here do not rule out matches of the whole pattern


@dataclass(slots=True)
class _DisjunctDraft:
    event: p.EventPlan
    disjunct: Disjunct
    texts: PartTexts
    written: Disjunct
    lines: list[_Line] = field(default_factory=list)

    def ask(self, questions: Questions) -> None:
        disjunct, texts, written = self.disjunct, self.texts, self.written
        for place, part in enumerate(disjunct.parts):
            line = _Line(texts.part(written.parts[place]), self._unmatched(place), self._sources(part))
            alone = _candidate_pattern(part)
            if alone is not None:
                line.candidates = questions.ask(part_event(replace(self.event, head=()), "", on_its_own(alone)))
            so_far = disjunct.upto(place + 1)
            if _can_be_cut(part, so_far):
                line.matches = questions.ask(self._event(disjunct.framed(so_far)))
            line.may_be_nothing = can_be_empty(so_far)
            self.lines.append(line)
        for number, absent in enumerate(written.absences, start=1):
            text = texts.part(absent)
            line = _Line(text, f"every match of the other parts violates `{text}`")
            line.matches = questions.ask(self._event(disjunct.framed(disjunct.with_absences(number))))
            self.lines.append(line)
        whole = disjunct.with_absences(len(disjunct.absences))
        if isinstance(disjunct.whole, p.Except) and isinstance(written.whole, p.Except):
            whole, text = disjunct.whole, f"EXCEPT {texts.part(written.whole.other)}"
            line = _Line(
                text, f"`{text}` excludes every match", matches=questions.ask(self._event(disjunct.framed(whole)))
            )
            self.lines.append(line)
        if isinstance(disjunct.whole, p.LeftJoin) and isinstance(written.whole, p.LeftJoin):
            whole = disjunct.whole
            if whole.kind is not p.JoinKind.OUTER:
                text = f"{left_join_text(whole)} {texts.part(written.whole.right)}"
                event = self._event(disjunct.framed(whole))
                self.lines.append(_Line(text, f"no match satisfies `{text}`", matches=questions.ask(event)))
        for number, condition in enumerate(written.having, start=1):
            text = f"HAVING {texts.condition(condition)}"
            event = part_event(self.event, "", disjunct.framed(whole), disjunct.having[:number], span=self._span)
            self.lines.append(_Line(text, f"no match satisfies `{text}`", matches=questions.ask(event)))

    def ask_how_many_were_too_long(self, questions: Questions, counted: Mapping[str, int]) -> None:
        """Adds counting events whose last part ignores WITHIN, unless there are too many pairs to try."""
        if not self.disjunct.limits:
            return
        for place, part in enumerate(self.disjunct.parts):
            line = self.lines[place]
            if line.matches is None or isinstance(part, p.Deadline):
                continue
            if place == 0:
                line.without_limit = questions.ask(self._event(self.disjunct.upto(1))) + "'"
                continue
            before = self.lines[place - 1].matches
            if before is None or line.candidates is None:
                continue
            if counted[before] * counted[line.candidates] <= MOST_TRIED:
                left = self.disjunct.framed(self.disjunct.upto(place))
                line.without_limit = questions.ask(self._event(self.disjunct.joined(left, part))) + "'"

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
            step = Step(self.disjunct.name, line.what, rows, candidates, matches, too_long)
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

    def _unmatched(self, place: int) -> str:
        now = self.texts.part(self.written.parts[place])
        if not place:
            return f"no `{now}` happens"
        before = self.texts.short(self.written.parts[place - 1])
        match self.disjunct.whole:
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
        return next((frame.slot for frame in reversed(self.disjunct.frames) if frame.slot is not None), None)

    def _sources(self, part: p.Part) -> tuple[str, ...]:
        if isinstance(part, p.Deadline | p.StreamStart):
            return ()
        inner = part.pattern if isinstance(part, p.Absent) else part
        return tuple(sorted({source for leaf in p.leaves(inner) for source in leaf.sources or self.event.scope}))


def _candidate_pattern(part: p.Part) -> p.Pattern | None:
    """The pattern of a part by itself; None if it needs no event."""
    match part:
        case p.Absent() | p.Deadline() | p.StreamStart() | p.Quantified():
            return None
        case p.Sliding(leaf=leaf):
            return leaf
        case _:
            return None if happens_without_events(part) else part


def _can_be_cut(part: p.Part, so_far: p.Pattern) -> bool:
    """Whether the parts up to here are a pattern: not if the last is a COMPLEMENT, nor without any event."""
    return not isinstance(part, p.OtherRun) and not happens_without_events(so_far)


def _with_obstacle(steps: list[Step]) -> list[Step]:
    """The steps, with the first clause without matches as the obstacle if no part is one."""
    if any(step.obstacle for step in steps):
        return steps
    for place, step in enumerate(steps):
        if step.matches == 0 and step.way is None and step.rows is None:
            return [*steps[:place], replace(step, obstacle=f"`{step.what}` removes every match"), *steps[place + 1 :]]
    return steps
