"""From an event to its query in normal form, or why the event is no query of Lahar's language.

Conditions are split into conjuncts and moved to the first subgoal that binds all of their variables. Equalities between
columns of different subgoals become shared variables (Lahar, section 2.2).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from inkling.analysis.query.query import Query, QuerySource, QueryVariable, Subgoal, SubgoalColumn
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.model.uncertainty import ProbableValue

MOST_SUBGOALS = 12

NO_ALTERNATIVES = "no stream of the event has a PROBABILITY"


def query_of(event: p.EventPlan, program: p.ProgramPlan) -> Verdict[Query | None]:
    """The query of an event over probable streams; None, and why, where the event needs possible worlds."""
    why = next(_obstacles(event, program), None)
    if why is not None:
        return Verdict(None, why)
    parts = _parts(event)
    if parts is None:
        return Verdict(None, "the pattern is not a sequence of single events under NEXT")
    return _NormalForm(event, program, parts).query()


def streams_obstacle(event: p.EventPlan, program: p.ProgramPlan) -> str | None:
    """Why an event needs possible worlds because of its streams or clauses, whatever its pattern is; else None."""
    return next(_in_streams(event, program), None)


def _in_streams(event: p.EventPlan, program: p.ProgramPlan) -> Iterator[str]:
    streams = [program.stream(name) for name in event.sources]
    for name, stream in zip(event.sources, streams, strict=True):
        if stream is None:
            yield f"{name} is a derived event, whose results depend on each other"
    if not any(isinstance(one.schema.uncertainty, ProbableValue) for one in streams if one is not None):
        yield NO_ALTERNATIVES
    for stream in streams:
        if stream is not None:
            yield from _in_stream(stream)
    if event.demand is p.Demand.SAMPLED:
        yield "the event demands SAMPLED"
    if event.per not in (p.Per.END, p.Per.VALUES):
        yield f"PER {event.per.value} needs whole matches; PER END needs only the times at which matches end"
    if event.restart or event.consumption is not None:
        yield "CONSUME makes matches depend on each other"
    if event.keep is not None or event.timeouts_of is not None:
        yield "KEEP FOR depends on when matches are detected"
    if event.forecast is not None or event.on_change:
        yield "the event is a forecast or has ON CHANGE"


def _in_stream(stream: p.StreamPlan) -> Iterator[str]:
    schema = stream.schema
    if schema.uncertainty is not None and not isinstance(schema.uncertainty, ProbableValue):
        yield f"{schema.name} has another kind of uncertainty than alternatives"
    if schema.is_ordered:
        yield f"ORDER BY of {schema.name} distinguishes simultaneous events"
    if schema.is_interval:
        yield f"events of {schema.name} are intervals"
    if stream.reset_when is not None:
        yield f"{schema.name} has RESET WHEN"
    for column in stream.derived:
        looks_back = any(isinstance(part, e.PreviousColumn | e.SinceChange) for part in e.walk(column.expr))
        if looks_back:
            yield f"`{column.name}` of {schema.name} reads other events"


def _obstacles(event: p.EventPlan, program: p.ProgramPlan) -> Iterator[str]:
    yield from _in_streams(event, program)
    if event.within is not None:
        yield "WITHIN depends on when a match began"


@dataclass(frozen=True, slots=True)
class _SubgoalPart:
    """A leaf of the sequence, and the HAVING conditions on the sequence up to this leaf."""

    leaf: p.Leaf
    repeated: bool
    having: tuple[e.Expr, ...] = ()


def _parts(event: p.EventPlan) -> tuple[_SubgoalPart, ...] | None:
    found = _flat(event.pattern)
    if not found:
        return None
    return (*found[:-1], replace(found[-1], having=(*found[-1].having, *event.having)))


def _flat(pattern: p.Part) -> tuple[_SubgoalPart, ...] | None:
    """The leaves of a left-deep sequence: only its first part may itself be a sequence."""
    match pattern:
        case p.Leaf(atoms=(), sources=(_,)):
            return (_SubgoalPart(pattern, repeated=False),)
        case p.Repetition(pattern=p.Leaf(atoms=(), sources=(_,)) as leaf, low=1, high=None, eager=False, maximal=False):
            return (_SubgoalPart(leaf, repeated=True),)
        case p.Narrowed(pattern=inner, within=None, having=having, slot=None):
            parts = _flat(inner)
            if not parts:
                return None
            return (*parts[:-1], replace(parts[-1], having=(*parts[-1].having, *having)))
        case p.Sequence(policy=p.Policy.NEXT, parts=(first, *others)):
            begun = _flat(first)
            rest = [_flat(one) for one in others if isinstance(one, p.Leaf | p.Repetition | p.Narrowed)]
            if begun is None or len(rest) < len(others) or any(one is None or len(one) != 1 for one in rest):
                return None
            return (*begun, *(one[0] for one in rest if one))
        case _:
            return None


class _NormalForm:
    """Sorts the conditions of an event into subgoals, and finds the variables that subgoals share."""

    def __init__(self, event: p.EventPlan, program: p.ProgramPlan, parts: Sequence[_SubgoalPart]) -> None:
        self._event, self._program, self._parts = event, program, parts
        self._subgoal_of = {part.leaf.slot: number for number, part in enumerate(parts)}
        self._classes: dict[SubgoalColumn, set[SubgoalColumn]] = {}
        self._kept: list[set[str]] = [set() for _ in parts]
        self._asks_for_last = False

    def query(self) -> Verdict[Query | None]:
        if len(self._parts) > MOST_SUBGOALS:
            return Verdict(None, f"the pattern has more than {MOST_SUBGOALS} parts")
        for column in self._event.partition:
            for number in range(len(self._parts)):
                self._unite(SubgoalColumn(0, column.name), SubgoalColumn(number, column.name))
                self._kept[number].add(column.name)
        subgoals = [self._candidates(number) for number in range(len(self._parts))]
        if len(subgoals) == 1:
            subgoals = [replace(subgoals[0], filters=(*subgoals[0].filters, *self._has_key()))]
        self._accepted(subgoals)
        for number, subgoal in enumerate(subgoals):
            if any(self._asks_for_more(one) for one in self._conditions(subgoal)):
                return Verdict(None, f"a condition of part {number + 1} reads more than columns of single events")
        if self._asks_for_last:
            return Verdict(None, "HAVING reads the last event of a repetition, which further events may follow")
        head = self._head()
        if head is None:
            return Verdict(None, "results show values that differ between matches")
        sources = {subgoal.source: self._source(subgoal.source) for subgoal in subgoals}
        query = Query(tuple(subgoals), self._variables(head), self._names_of(head), sources, self._event.per)
        return Verdict(query, "a sequence of single events under NEXT")

    def _has_key(self) -> list[e.Expr]:
        """Conditions that the partition key is not null; with several subgoals their equality implies it."""
        leaf = self._parts[0].leaf
        stream = self._program.stream(leaf.sources[0])
        never_null = () if stream is None else stream.schema.key
        return [
            e.IsNull(e.ColumnOf(leaf.slot, column.name, column.type), negated=True)
            for column in self._event.partition
            if column.name not in never_null
        ]

    def _candidates(self, number: int) -> Subgoal:
        part = self._parts[number]
        filters: list[e.Expr] = []
        joins: list[e.Expr] = []
        constants: dict[str, e.Literal] = {}
        for condition in part.leaf.conditions:
            one = self._own_key(condition, part.leaf.slot)
            match self._equality(one, number):
                case SubgoalColumn() as other, column if self._says_no_more(SubgoalColumn(number, column), other):
                    self._kept[number].add(column)
                    filters += self._alike(number, column, other, one)
                    self._unite(SubgoalColumn(number, column), other)
                    continue
                case _:
                    pass
            if self._reads(one) <= {number} and not self._asks_for_previous(one):
                filters.append(one)
                constants |= self._constant(one)
            else:
                joins.append(one)
        return Subgoal(
            part.leaf.slot,
            part.leaf.sources[0],
            part.repeated,
            tuple(filters),
            tuple(joins),
            (),
            (),
            frozenset(),
            constants,
        )

    def _alike(self, number: int, column: str, other: SubgoalColumn, condition: e.Expr) -> list[e.Expr]:
        """Equalities within one event: the other columns of this subgoal that equal the same earlier column."""
        assert isinstance(condition, e.Compare)
        slot, kind = self._parts[number].leaf.slot, condition.left.type
        mine = [
            one.column for one in self._classes.get(other, {other}) if one.subgoal == number and one.column != column
        ]
        return [
            replace(condition, left=e.ColumnOf(slot, column, kind), right=e.ColumnOf(slot, one, kind))
            for one in sorted(mine)
        ]

    def _says_no_more(self, own: SubgoalColumn, other: SubgoalColumn) -> bool:
        """Whether an equality with an earlier column adds no equality between earlier subgoals."""
        alike = self._classes.get(own, {own})
        return len(alike) == 1 or other in alike

    def _equality(self, condition: e.Expr, number: int) -> tuple[SubgoalColumn, str] | None:
        """Reads `own = other`: a column that equals one of an earlier subgoal, or one that a Kleene plus keeps."""
        if not isinstance(condition, e.Compare) or condition.operator != "=":
            return None
        sides = [condition.left, condition.right]
        for own, other in (sides, sides[::-1]):
            if not isinstance(own, e.ColumnOf) or self._subgoal_of.get(own.slot) != number or own.type != other.type:
                continue
            match other:
                case e.ListColumn(slot=slot, column=column, own=True) if slot == own.slot and column == own.column:
                    return SubgoalColumn(number, column), column
                case e.ColumnOf(slot=slot, column=column) if self._subgoal_of.get(slot, number) < number:
                    return SubgoalColumn(self._subgoal_of[slot], column), own.column
                case e.ListColumn(slot=slot, column=column, own=False) if self._subgoal_of.get(slot, number) < number:
                    subgoal = self._subgoal_of[slot]
                    if column in self._kept[subgoal]:
                        return SubgoalColumn(subgoal, column), own.column
                case _:
                    pass
        return None

    def _accepted(self, subgoals: list[Subgoal]) -> None:
        """Move each CHECK and HAVING condition to the first subgoal that binds all columns it reads."""
        for number, part in enumerate(self._parts):
            checks = [self._own_key(one, part.leaf.slot) for one in part.leaf.checks]
            for condition in (*checks, *map(self._at_first, map(self._key_at_first, part.having))):
                read = self._reads(condition)
                is_check = condition in checks
                at = number if is_check or not read else max(read | self._after_lasts(condition))
                if at > number:
                    self._asks_for_last = True
                    at = number
                local = read <= {at} and not self._asks_for_previous(condition)
                subgoal = subgoals[at]
                if local and at == 0 and not subgoal.repeated:
                    subgoals[at] = replace(
                        subgoal,
                        filters=(*subgoal.filters, condition),
                        constants={**subgoal.constants, **self._constant(condition)},
                    )
                elif local:
                    subgoals[at] = replace(subgoal, accepts=(*subgoal.accepts, condition))
                else:
                    subgoals[at] = replace(subgoal, across=(*subgoal.across, condition))
        for number, subgoal in enumerate(subgoals):
            subgoals[number] = replace(subgoal, kept=frozenset(self._kept[number]))

    def _after_lasts(self, condition: e.Expr) -> set[int]:
        """The subgoals after repetitions whose last event a condition reads."""
        return {
            self._subgoal_of[part.slot] + 1
            for part in e.walk(condition)
            if isinstance(part, e.ListColumn) and part.slot in self._subgoal_of
        }

    def _at_first(self, expr: e.Expr) -> e.Expr:
        """The expression with each shared variable read from the first subgoal that binds it."""
        match expr:
            case e.ColumnOf(slot=slot, column=column) | e.ListColumn(slot=slot, column=column):
                subgoal = self._subgoal_of.get(slot)
                if subgoal is None or (isinstance(expr, e.ListColumn) and column not in self._kept[subgoal]):
                    return expr
                first = min(self._classes.get(SubgoalColumn(subgoal, column), {SubgoalColumn(subgoal, column)}))
                if first.subgoal == subgoal and isinstance(expr, e.ColumnOf):
                    return expr
                return e.ColumnOf(self._parts[first.subgoal].leaf.slot, first.column, expr.type)
            case _:
                return e.rebuilt(expr, self._at_first)

    def _key_at_first(self, expr: e.Expr) -> e.Expr:
        return self._own_key(expr, self._parts[0].leaf.slot)

    def _own_key(self, expr: e.Expr, slot: int) -> e.Expr:
        """The expression with columns of PARTITION BY read from the event of a slot."""
        if isinstance(expr, e.KeyColumn):
            return e.ColumnOf(slot, expr.column, expr.type)
        return e.rebuilt(expr, lambda part: self._own_key(part, slot))

    def _reads(self, expr: e.Expr) -> set[int]:
        return {self._subgoal_of[slot] for slot in e.slots_of(expr) if slot in self._subgoal_of}

    @staticmethod
    def _asks_for_previous(expr: e.Expr) -> bool:
        return e.looks_back(expr)

    def _asks_for_more(self, expr: e.Expr) -> bool:
        times = {stream.schema.start for stream in self._program.streams}
        return any(
            isinstance(part, e.TimeOf | e.IdOf | e.Aggregate)
            or (isinstance(part, e.FactColumn) and part.atom >= 0)
            or (isinstance(part, e.ListColumn) and (part.which is e.Which.FIRST or part.column in times))
            or (isinstance(part, e.ColumnOf) and part.column in times)
            for part in e.walk(expr)
        )

    @staticmethod
    def _conditions(subgoal: Subgoal) -> tuple[e.Expr, ...]:
        return (*subgoal.filters, *subgoal.joins, *subgoal.accepts, *subgoal.across)

    @staticmethod
    def _constant(condition: e.Expr) -> dict[str, e.Literal]:
        match condition:
            case e.Compare(operator="=", left=e.ColumnOf() as one, right=e.Literal() as value):
                pass
            case e.Compare(operator="=", left=e.Literal() as value, right=e.ColumnOf() as one):
                pass
            case _:
                return {}
        return {one.column: value} if one.type == value.type and value.value is not None else {}

    def _head(self) -> set[SubgoalColumn] | None:
        """The columns whose values distinguish results; None where matches of one result differ in a returned column.

        The partition key always distinguishes results, whether or not the head shows it.
        """
        shown = self._shown(self._event.head)
        returned = self._shown(self._event.returns)
        if shown is None or returned is None:
            return None
        found = {SubgoalColumn(0, column.name) for column in self._event.partition} | shown
        return found if returned <= found else None

    def _shown(self, outputs: Sequence[p.Output]) -> set[SubgoalColumn] | None:
        """The columns that some outputs read; None where they read more than columns of single events."""
        found: set[SubgoalColumn] = set()
        for output in outputs:
            for part in e.walk(self._at_first(self._key_at_first(output.expr))):
                if isinstance(part, e.ColumnOf) and part.slot in self._subgoal_of:
                    found.add(SubgoalColumn(self._subgoal_of[part.slot], part.column))
                elif isinstance(part, e.ListColumn | e.TimeOf | e.IdOf | e.Aggregate | e.FactColumn):
                    return None
        return found

    def _unite(self, one: SubgoalColumn, other: SubgoalColumn) -> None:
        whole = self._classes.get(one, {one}) | self._classes.get(other, {other})
        for place in whole:
            self._classes[place] = whole

    def _variables(self, head: set[SubgoalColumn]) -> tuple[QueryVariable, ...]:
        classes = {frozenset(some) for some in self._classes.values()}
        classes |= {frozenset({place}) for place in head if place not in self._classes}
        return tuple(QueryVariable(self._name(some), some) for some in sorted(classes, key=min))

    def _names_of(self, head: set[SubgoalColumn]) -> frozenset[str]:
        return frozenset(self._name(frozenset(self._classes.get(place, {place}))) for place in head)

    def _name(self, places: frozenset[SubgoalColumn]) -> str:
        first = min(places)
        slot = self._event.slots[self._parts[first.subgoal].leaf.slot]
        return f"{slot.name or f'{slot.sources[0]}#{first.subgoal + 1}'}.{first.column}"

    def _source(self, name: str) -> QuerySource:
        stream = self._program.stream(name)
        assert stream is not None
        uncertainty = stream.schema.uncertainty
        if not isinstance(uncertainty, ProbableValue):
            return QuerySource(name, stream.schema.key, certain=True)
        return QuerySource(name, stream.schema.key, markov=bool(uncertainty.given))
