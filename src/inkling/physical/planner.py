"""From a logical plan to a physical one: stages, inputs, bits and evaluators."""

from dataclasses import dataclass, field, replace

from inkling.analysis.bounds.window import horizon_of
from inkling.analysis.choice import Choice, Evaluator, uncertain_choice
from inkling.analysis.policies import looks_at_scope, read_sources
from inkling.analysis.regular import MAX_CONDITIONS, MAX_TESTS, is_local, is_regular
from inkling.analysis.verdict import Verdict
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.recursion import dependencies_of
from inkling.logical.rewrites.everywhere import everywhere
from inkling.logical.rewrites.in_worlds import ORIGINAL_ID, uncertain_events
from inkling.model.types import Type
from inkling.physical.by_key import held_by_key
from inkling.physical.checks import physical_reset, reject_resets
from inkling.physical.conditions import (
    BitIndex,
    Near,
    compared_args,
    having_for_kernels,
    hoisted,
    is_pair_test,
    near_of,
    with_physical_preference,
)
from inkling.physical.naming import Naming, columns_of_segments, physical_name, row_expr, with_physical_columns
from inkling.physical.plan import Bit, Computed, EventStep, Input, LeafTest, PhysicalPlan, Sharing, Stage
from inkling.physical.sharing import sharing_of
from inkling.physical.stages import Placement, StageDraft, column_types, group_events


def plan_program(program: p.ProgramPlan, placement: Placement | None = None, *, shares: bool = True) -> PhysicalPlan:
    """Plans stages, inputs and evaluators of all events; a placement fixes the number of stages.

    Events of a stage share common work unless `shares` is False; their results are the same.
    """
    groups, uncertain = group_events(program, placement), uncertain_events(program)
    stages = tuple(
        _StagePlanner(program, group, uncertain, shares).stage(number) for number, group in enumerate(groups)
    )
    return PhysicalPlan(program, stages)


def read_by_certain_events(plan: PhysicalPlan) -> frozenset[str]:
    """The streams and events that certain events read."""
    uncertain = plan.uncertain
    return frozenset(name for event in plan.program.events if event.name not in uncertain for name in event.sources)


def certain_plan(plan: PhysicalPlan, placement: Placement | None = None) -> PhysicalPlan:
    """The plan of the events that depend only on certain streams; the same plan if all events do."""
    return plan_program(certain_part(plan.program), placement) if plan.uncertain else plan


def certain_part(program: p.ProgramPlan) -> p.ProgramPlan:
    """The events that depend only on certain streams, and their streams; the same program if all events do."""
    uncertain = uncertain_events(program)
    if not uncertain:
        return program
    events = tuple(event for event in program.events if event.name not in uncertain)
    read = {name for event in events for name in event.sources}
    streams = tuple(stream for stream in program.streams if stream.schema.name in read)
    return p.ProgramPlan(streams, program.tables, events, program.ticks_only, program.rules)


@dataclass(slots=True)
class _InputDraft:
    source: str
    atoms: tuple[p.TableAtom, ...]
    columns: set[str] = field(default_factory=set)
    bits: dict[int, e.Expr] = field(default_factory=dict)
    computed: dict[str, e.Expr] = field(default_factory=dict)
    keeps: list[tuple[int, ...] | None] = field(default_factory=list)  # bits of a leaf; None keeps every row
    in_scope: bool = False


@dataclass(slots=True)
class _StagePlanner:
    program: p.ProgramPlan
    group: StageDraft
    uncertain: frozenset[str]
    shares: bool = True
    index: BitIndex = field(default_factory=BitIndex)
    names: dict[e.Expr, str] = field(default_factory=dict)  # of computed columns
    drafts: list[_InputDraft] = field(default_factory=list)
    held: frozenset[e.Expr] = frozenset()  # conditions of the current event that its key answers

    def stage(self, number: int) -> Stage:
        for source in sorted({source for event in self.group.events for source in read_sources(event)}):
            self._position(source, ())
        steps = tuple(self._step(event) for event in self.group.events)
        inputs = tuple(
            self._input(draft, f"{draft.source}#{place}" if draft.atoms else draft.source)
            for place, draft in enumerate(self.drafts)
        )
        sliced = not self.group.key_types and all(
            step.evaluator is Evaluator.NETWORK and horizon_of(step.event).conclusion is not None for step in steps
        )
        return Stage(
            number,
            self.group.key_types,
            self.group.declared,
            inputs,
            steps,
            self._id_type(),
            len(self.index.numbers),
            sliced,
            "text" in self.orders,
            len(self.orders) > 1,
            sharing_of(steps) if self.shares else Sharing(),
        )

    def _step(self, event: p.EventPlan) -> EventStep:
        features = () if event.forecast is None else event.forecast.features
        leaves = [with_local_atoms(leaf) for leaf in (*with_pair_tests(event), *features)]
        inputs_of = {
            leaf.slot: tuple(self._position(source, leaf.atoms) for source in leaf.sources or event.scope)
            for leaf in leaves
        }
        naming = self._naming(event, leaves)
        is_certain = event.name not in self.uncertain
        self.held = held_by_key(event, self.program, leaves, self.group.keys) if is_certain else frozenset()
        if isinstance(event.pattern, p.Quantified):
            sides = (event.pattern.left, event.pattern.right)
            tests = tuple(self._operand(operand, naming, inputs_of) for operand in sides)
        else:
            tests = tuple(self._leaf(leaf, naming, inputs_of) for leaf in leaves)
        bound = self._bound(event, naming)
        if bound.consumption is not None:
            bound = having_for_kernels(bound, lambda slot, inner: self._computed(inner, inputs_of[slot]))
        negated = {slot.number for slot in event.slots if slot.negated}
        visible = {slot: positions for slot, positions in inputs_of.items() if slot not in negated}
        for expr in _expressions(bound) if event.forecast is None else _keys_of(bound):
            self._require(expr, inputs_of if e.slots_of(expr) & negated else visible)
        scope = tuple(self._position(source, ()) for source in event.scope if source in read_sources(event))
        verdict = is_regular(event, self.program)
        too_many = _too_many_tests(tests)
        if verdict.conclusion and too_many:
            verdict = Verdict(False, too_many)
        chosen = Evaluator.AUTOMATON if verdict.conclusion else Evaluator.NETWORK
        if isinstance(event.pattern, p.Quantified):
            chosen, verdict = Evaluator.SEGMENTS, Verdict(False, "segments of different keys are compared")
            self._require_segments(bound.pattern, inputs_of)
        if isinstance(event.pattern, p.Sliding):
            chosen, verdict = Evaluator.WINDOW, Verdict(False, "a window moves with every event")
            if isinstance(bound.pattern, p.Sliding) and bound.pattern.called is not None:
                self._need(inputs_of[event.pattern.leaf.slot], bound.pattern.called.name)
        if event.consumption is not None:
            chosen, verdict = Evaluator.CONSUMPTION, Verdict(False, "parts of matches are consumed")
        if event.forecast is not None:
            chosen = Evaluator.FORECAST
            if event.forecast.by is not None:
                self._need(scope, physical_name(event.forecast.by.name, event.forecast.by.type))
        reject_resets(event, self.program, chosen, verdict)
        for position in scope:
            self.drafts[position].in_scope = True
            if chosen in (Evaluator.AUTOMATON, Evaluator.FORECAST) or looks_at_scope(event):
                self.drafts[position].keeps.append(None)
        conditions = self._conditions(tests) if chosen is Evaluator.FORECAST else ()
        reason = self.group.verdicts[event.name].reason
        return EventStep(bound, self._choice(event, Choice(chosen, verdict.reason)), tests, scope, reason, conditions)

    def _choice(self, event: p.EventPlan, certain: Choice) -> Choice:
        if event.name not in self.uncertain:
            return certain
        return uncertain_choice(event, self.program, certain)

    def _conditions(self, tests: tuple[LeafTest, ...]) -> tuple[Bit, ...]:
        read = {bit for test in tests for bit in test.all_bits}
        return tuple(Bit(number, condition) for condition, number in self.index.numbers.items() if number in read)

    def _naming(self, event: p.EventPlan, leaves: list[p.Leaf]) -> Naming:
        types = {
            (slot.number, column): kind
            for slot in event.slots
            for source in slot.sources or event.scope
            for column, kind in column_types(self.program, source).items()
        }
        return Naming(types, {atom.number: leaf.slot for leaf in leaves for atom in leaf.atoms})

    def _bound(self, event: p.EventPlan, naming: Naming) -> p.EventPlan:
        """The event with outputs and filters over physical columns; conditions of leaves are in the leaf tests."""

        def outputs(items: tuple[p.Output, ...]) -> tuple[p.Output, ...]:
            return tuple(p.Output(item.name, naming.physical(item.expr)) for item in items)

        def renamed(pattern: p.Pattern) -> p.Pattern:
            match pattern:
                case p.Narrowed(having=having):
                    return replace(pattern, having=tuple(naming.physical(condition) for condition in having))
                case p.Quantified():
                    return with_physical_columns(pattern)
                case p.Sliding(called=called) if called is not None:
                    return replace(pattern, called=replace(called, name=physical_name(called.name, called.type)))
                case _:
                    return pattern

        return replace(
            event,
            head=outputs(event.head),
            returns=outputs(event.returns),
            having=tuple(naming.physical(condition) for condition in event.having),
            pattern=everywhere(event.pattern, renamed),
            consumption=with_physical_preference(event.consumption, naming),
        )

    def _leaf(self, leaf: p.Leaf, naming: Naming, inputs_of: dict[int, tuple[int, ...]]) -> LeafTest:
        positions = inputs_of[leaf.slot]
        test = self._test(leaf, leaf.conditions, naming, inputs_of)
        for position in positions:
            self.drafts[position].keeps.append(test.bits or None)
        if not leaf.checks:
            return test
        return replace(test, check=self._test(leaf, leaf.checks, naming, inputs_of))

    def _operand(self, operand: p.Operand, naming: Naming, inputs_of: dict[int, tuple[int, ...]]) -> LeafTest:
        """The tests of segments; conditions that compare segments of both sides are evaluated on whole columns."""
        leaf = replace(operand.leaf, conditions=operand.selections)
        compared = tuple(naming.physical(condition, leaf.slot) for condition in operand.comparisons)
        for condition in compared:
            self._require(condition, inputs_of)
        return replace(self._leaf(leaf, naming, inputs_of), across=compared)

    def _test(
        self, leaf: p.Leaf, conditions: tuple[e.Expr, ...], naming: Naming, inputs_of: dict[int, tuple[int, ...]]
    ) -> LeafTest:
        positions = inputs_of[leaf.slot]
        bits, across, by_key = [], [], []
        for condition in (part for item in conditions for part in e.conjuncts(item)):
            named = naming.physical(condition, leaf.slot)
            if condition in self.held:
                by_key.append(named)
                self._require(named, inputs_of)
            elif is_local(named, leaf.slot):
                row_condition = row_expr(named)
                bit = self.index.number(row_condition)
                bits.append(bit)
                for position in positions:
                    self.drafts[position].bits[bit] = row_condition
            else:
                compared = hoisted(named, lambda slot, inner: self._computed(inner, inputs_of[slot]))
                across.append(compared)
                self._require(compared, inputs_of)
        return LeafTest(leaf.slot, positions, tuple(bits), tuple(across), by_key=tuple(by_key))

    def _computed(self, expr: e.Expr, positions: tuple[int, ...]) -> str:
        """Adds an expression on one row as a computed column of these inputs; returns the name of the column."""
        row = row_expr(expr)
        name = self.names.setdefault(row, physical_name(f"computed{len(self.names)}", expr.type))
        for position in positions:
            self.drafts[position].computed[name] = row
        return name

    def _require(self, expr: e.Expr, inputs_of: dict[int, tuple[int, ...]]) -> None:
        """Requires the columns that an expression reads from the inputs of its slots."""
        for part in e.walk(expr):
            match part:
                case e.ColumnOf(slot=slot, column=column) | e.ListColumn(slot=slot, column=column):
                    self._need(inputs_of[slot], column)
                case e.Aggregate(slot=slot, column=str(column)):
                    self._need(inputs_of[slot], column)
                case e.KeyColumn(column=column):
                    self._need(tuple({x for positions in inputs_of.values() for x in positions}), column)
                case _:
                    pass

    def _require_segments(self, pattern: p.Pattern, inputs_of: dict[int, tuple[int, ...]]) -> None:
        assert isinstance(pattern, p.Quantified)
        for operand in (pattern.left, pattern.right):
            for column in columns_of_segments(operand, pattern.same):
                self._need(inputs_of[operand.leaf.slot], column.name)

    def _need(self, positions: tuple[int, ...], column: str) -> None:
        for position in positions:
            self.drafts[position].columns.add(column)

    def _position(self, source: str, atoms: tuple[p.TableAtom, ...]) -> int:
        for position, draft in enumerate(self.drafts):
            if (draft.source, draft.atoms) == (source, atoms):
                return position
        self.drafts.append(_InputDraft(source, atoms))
        return len(self.drafts) - 1

    def _input(self, draft: _InputDraft, name: str) -> Input:
        stream = self.program.stream(draft.source)
        derived = frozenset() if stream is None else frozenset(column.name for column in stream.derived)
        reset = None if stream is None or stream.reset_when is None else physical_reset(stream.reset_when)
        if reset is not None:
            draft.bits[self.index.number(reset)] = reset
        bits = [Bit(number, condition) for number, condition in sorted(draft.bits.items())]
        late = tuple(bit for bit in bits if _reads(bit.expr, derived))
        early = tuple(bit for bit in bits if bit not in late)
        event = self.program.event(draft.source)
        identity = _identity(stream, self.group.keys[draft.source])
        columns = () if event is None else event.schema.columns
        values = tuple(physical_name(one.name, one.type) for one in columns if one.type is not Type.WEIGHTS)
        in_turn = any(one.consumption is not None for one in self.group.events)
        called = _original_id(stream) if stream is not None and in_turn else None
        return Input(
            name,
            draft.source,
            stream is None,
            self.group.keys[draft.source],
            tuple(sorted(draft.columns | {*identity, *values, *([] if called is None else [called])})),
            draft.atoms,
            early,
            late,
            tuple(Computed(column, expr) for column, expr in sorted(draft.computed.items())),
            self._keep(draft, late, bool(derived)),
            stream.schema.is_ordered if stream is not None else event is not None and event.schema.is_ordered,
            stream is None or stream.schema.is_interval,
            draft.in_scope and not draft.atoms,
            identity,
            called,
            values,
            self._near(draft),
            None if reset is None else self.index.number(reset),
        )

    def _near(self, draft: _InputDraft) -> Near | None:
        """A bound on the distance of facts, if a single leaf reads an input with tables."""
        if len(draft.keeps) != 1 or draft.keeps[0] is None:
            return None
        return near_of(draft.atoms, [draft.bits[bit] for bit in draft.keeps[0]])

    def _keep(self, draft: _InputDraft, late: tuple[Bit, ...], has_derived: bool) -> e.Expr | None:
        """The condition that a row must satisfy to be a candidate of any leaf; None if every row may be."""
        if (has_derived and not draft.atoms) or not draft.keeps or None in draft.keeps:
            return None
        unknown = {bit.number for bit in late}
        disjuncts = {tuple(bit for bit in bits if bit not in unknown) for bits in draft.keeps if bits is not None}
        if () in disjuncts:
            return None
        return e.AnyOf(tuple(e.AllOf(tuple(draft.bits[bit] for bit in bits)) for bits in sorted(disjuncts)))

    @property
    def orders(self) -> set[str]:
        """What ORDER BY compares in the streams of the program: all stages agree, as events go from one to the next."""
        columns = (
            stream.schema.column(stream.schema.order_by)
            for stream in self.program.streams
            if stream.schema.order_by is not None
        )
        return {"text" if column.type.is_text else "number" for column in columns if column is not None}

    def _id_type(self) -> Type:
        """The type of ids of a stage: integers if all ids are integers, else strings."""
        kinds = {self._source_id_type(draft.source) for draft in self.drafts}
        return Type.INTEGER if kinds <= {Type.INTEGER} else Type.STRING

    def _source_id_type(self, source: str) -> Type:
        stream = self.program.stream(source)
        if stream is None:
            event = self.program.event(source)
            assert event is not None
            below = (name for name in dependencies_of(event, self.program) if self.program.stream(name) is not None)
            kinds = {self._source_id_type(name) for name in below}
            return Type.INTEGER if kinds <= {Type.INTEGER} else Type.STRING
        column = None if stream.schema.id is None else stream.schema.column(stream.schema.id)
        return Type.INTEGER if column is None or column.type is Type.INTEGER else Type.STRING


def _too_many_tests(tests: tuple[LeafTest, ...]) -> str | None:
    """Why an automaton would have too many symbols; None if it would not."""
    n_conditions = len({bit for test in tests for bit in test.all_bits})
    if n_conditions > MAX_CONDITIONS:
        return f"{n_conditions} different conditions are more than {MAX_CONDITIONS}"
    on_input: dict[int, set[frozenset[int]]] = {}
    for test in tests:
        for bits in {frozenset(test.bits), frozenset(test.all_bits)} - {frozenset()}:
            for position in test.inputs:
                on_input.setdefault(position, set()).add(bits)
    n_tests = max((min(len(some), len(frozenset.union(*some))) for some in on_input.values()), default=0)
    return f"{n_tests} different tests of one event are more than {MAX_TESTS}" if n_tests > MAX_TESTS else None


def with_pair_tests(event: p.EventPlan) -> list[p.Leaf]:
    """The leaves, with look-ups that only test whether a table has a pair of values as conditions."""
    leaves = list(p.leaves(event.pattern))
    read = {number for leaf in leaves for expr in leaf.demands for number in e.atoms_of(expr)}
    read |= {number for leaf in leaves for atom in leaf.atoms for arg in atom.args if arg for number in e.atoms_of(arg)}
    read |= {number for expr in _expressions(event) for number in e.atoms_of(expr)}
    if event.consumption is not None:
        return leaves
    changed = []
    for leaf in leaves:
        tests = [
            test
            for atom in leaf.atoms
            if atom.number not in read
            and is_pair_test(test := e.InTable(atom.table, atom.args))
            and leaf.slot in {arg.slot for _, arg in compared_args(test)}
        ]
        kept = tuple(atom for atom in leaf.atoms if e.InTable(atom.table, atom.args) not in tests)
        own = [
            replace(test, args=tuple(arg if arg and e.slots_of(arg) <= {leaf.slot} else None for arg in test.args))
            for test in tests
        ]
        changed.append(replace(leaf, atoms=kept, conditions=(*leaf.conditions, *own, *tests)))
    return changed


def with_local_atoms(leaf: p.Leaf) -> p.Leaf:
    """The leaf with table atoms that read only its own event.

    An argument of an atom that reads another event becomes an equality condition on the fact.
    """
    own = {atom.number for atom in leaf.atoms}
    atoms, conditions = [], list(leaf.conditions)
    for atom in leaf.atoms:
        args = [None if arg is None else _of_own_event(arg, leaf.slot) for arg in atom.args]
        for place, (arg, column) in enumerate(zip(args, atom.columns, strict=True)):
            if arg is None or (e.slots_of(arg) <= {leaf.slot} and e.atoms_of(arg) <= own):
                continue
            args[place] = None
            conditions.append(e.Compare("=", e.FactColumn(atom.number, column.name, column.type), arg))
        atoms.append(replace(atom, args=tuple(args)))
    return replace(leaf, atoms=tuple(atoms), conditions=tuple(conditions))


def _of_own_event(expr: e.Expr, slot: int) -> e.Expr:
    """The expression with partition columns read from the event of one slot."""
    if isinstance(expr, e.KeyColumn):
        return e.ColumnOf(slot, expr.column, expr.type)
    return e.rebuilt(expr, lambda part: _of_own_event(part, slot))


def _original_id(stream: p.StreamPlan) -> str | None:
    """The column with original ids, for streams in worlds; None for other streams."""
    column = stream.schema.column(ORIGINAL_ID)
    return None if column is None else physical_name(column.name, column.type)


def _identity(stream: p.StreamPlan | None, key: tuple[str, ...]) -> tuple[str, ...]:
    """Columns of KEY that complete an id: ids are unique only within a key."""
    if stream is None or stream.schema.id is None:
        return ()
    kinds = {column.name: column.type for column in stream.schema.columns}
    return tuple(physical_name(name, kinds[name]) for name in stream.schema.key if name not in key)


def _expressions(event: p.EventPlan) -> list[e.Expr]:
    """All expressions that are evaluated on complete matches, also of nested bodies."""
    nested = [
        condition for part in p.parts_of(event.pattern) if isinstance(part, p.Narrowed) for condition in part.having
    ]
    outputs = [output.expr for output in (*event.head, *event.returns)]
    return [*outputs, *event.having, *nested, *event.preferred]


def _keys_of(event: p.EventPlan) -> list[e.Expr]:
    """The key columns of a forecast; the evaluator computes its other columns."""
    return [output.expr for output in event.head if isinstance(output.expr, e.KeyColumn)]


def _reads(expr: e.Expr, columns: frozenset[str]) -> bool:
    return any(
        isinstance(part, e.InTable) or (isinstance(part, e.ColumnOf) and part.column.rsplit("|", 1)[0] in columns)
        for part in e.walk(expr)
    )
