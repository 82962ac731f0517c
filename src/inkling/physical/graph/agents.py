"""The network of agents behind a program: one agent per operator, the same agent for equal parts of several events.

As text it shows under each event what it takes from, and what is shared once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from inkling.analysis.regular import is_local
from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.printing.text import (
    Wording,
    expr_text,
    left_join_text,
    lookup_text,
    moment_text,
    quantity_text,
    span_text,
    window_text,
)


class AgentKind(Enum):
    """What an agent does; a stream, a table and a time only give."""

    STREAM = "stream"
    TABLE = "table"
    RULE = "rule"
    TIME = "time"
    FILTER = "filter"
    ENRICH = "enrich"
    JOIN = "join"
    WINDOW = "window"
    CONSUME = "consume"
    TRANSLATE = "translate"
    AGAIN = "again"
    EVENT = "event"


@dataclass(frozen=True, slots=True)
class Agent:
    """A node of the network; `details` are the lines under its title."""

    number: int
    kind: AgentKind
    title: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Flow:
    """What one agent passes on to another, under the name that it has there."""

    giver: int
    taker: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Network:
    """Agents in an order in which each comes after those it takes from."""

    agents: tuple[Agent, ...]
    flows: tuple[Flow, ...]

    def inputs(self, agent: Agent) -> tuple[tuple[Agent, str], ...]:
        return tuple((self.agents[flow.giver], flow.name) for flow in self.flows if flow.taker == agent.number)

    def uses(self, agent: Agent) -> int:
        return sum(flow.giver == agent.number for flow in self.flows)

    @property
    def events(self) -> tuple[Agent, ...]:
        return tuple(agent for agent in self.agents if agent.kind is AgentKind.EVENT)


def network_of(program: p.ProgramPlan) -> Network:
    """The agents of a program and what flows between them."""
    maker = _Maker()
    for stream in program.streams:
        columns = ", ".join(column.name for column in stream.schema.columns)
        maker.sources[stream.schema.name] = maker.agent(AgentKind.STREAM, stream.schema.name, (columns,))
    for table in program.tables:
        maker.tables[table.name] = maker.agent(AgentKind.TABLE, table.name, (f"from '{table.path}'",))
    for rule in program.rules:
        maker.tables[rule.schema.name] = maker.agent(AgentKind.RULE, rule.schema.name)
    for event in program.events:
        maker.event(event)
    return Network(tuple(maker.agents), tuple(maker.flows))


@dataclass(frozen=True, slots=True)
class _Given:
    """An agent's output as another agent takes it: under a name, and on what conditions."""

    agent: int
    name: str = ""
    conditions: tuple[str, ...] = ()


@dataclass(slots=True)
class _Maker:
    """Makes agents; asked twice for the same one, it gives the one it has."""

    agents: list[Agent] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    sources: dict[str, int] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    _made: dict[object, int] = field(default_factory=dict)

    def agent(
        self,
        kind: AgentKind,
        title: str,
        details: tuple[str, ...] = (),
        takes: Sequence[_Given] = (),
        key: object = None,
    ) -> int:
        """`key` distinguishes agents with the same inputs, where their words would not."""
        inputs = tuple((given.agent, given.name == "NOT") for given in takes)
        identity = (kind, title, details if key is None else key, inputs)
        if identity not in self._made:
            number = self._made[identity] = len(self.agents)
            self.agents.append(Agent(number, kind, title, details))
            self.flows += [Flow(given.agent, number, given.name) for given in takes]
        return self._made[identity]

    def source(self, name: str) -> int:
        """Who gives the events of that name; what a recursion gives to itself comes from nowhere else."""
        return (
            self.sources[name]
            if name in self.sources
            else self.agent(AgentKind.AGAIN, name, ("results of the recursion",))
        )

    def event(self, event: p.EventPlan) -> None:
        found = _EventMaker(self, event, Wording.of(event)).whole()
        details = (f"per {event.per.value}", *_partition_text(event))
        self.sources[event.name] = self.agent(AgentKind.EVENT, event.name, details, [found])


def _partition_text(event: p.EventPlan) -> Iterator[str]:
    if event.partition:
        yield f"by {', '.join(column.name for column in event.partition)}"


@dataclass(frozen=True, slots=True)
class _EventMaker:
    maker: _Maker
    plan: p.EventPlan
    names: Wording

    def whole(self) -> _Given:
        event = self.plan
        found = self._part(event.pattern)
        found = self._limited(found, event.within, event.having)
        if event.keep is not None:
            found = self._after(found, AgentKind.WINDOW, f"KEEP FOR {span_text(event.keep)}")
        if event.restart:
            found = self._after(found, AgentKind.CONSUME, "CONSUME RESTART")
        if event.consumption is not None:
            keeping = " KEEPING" if event.consumption.keeping else ""
            found = self._after(found, AgentKind.CONSUME, f"CONSUME {event.consumption.selection.value}{keeping}")
        outputs = (*event.head, *event.returns)
        if outputs:
            shown = tuple(self._output(output) for output in outputs)
            found = self._after(found, AgentKind.TRANSLATE, _word_for(outputs), shown)
        return found

    def _output(self, output: p.Output) -> str:
        value = expr_text(output.expr, self.names)
        return value if value == output.name else f"{output.name} = {value}"

    def _after(self, found: _Given, kind: AgentKind, title: str, details: tuple[str, ...] = ()) -> _Given:
        return _Given(self.maker.agent(kind, title, details, [found]))

    def _limited(self, found: _Given, within: p.Window | None, having: tuple[e.Expr, ...]) -> _Given:
        if within is not None:
            found = self._after(found, AgentKind.WINDOW, f"WITHIN {window_text(within)}")
        if having:
            found = self._after(found, AgentKind.FILTER, "filter", self._texts(having))
        return found

    def _texts(self, conditions: tuple[e.Expr, ...]) -> tuple[str, ...]:
        return tuple(expr_text(part, self.names) for condition in conditions for part in e.conjuncts(condition))

    def _part(self, part: p.Part) -> _Given:
        match part:
            case p.Leaf():
                return self._leaf(part)
            case p.TimePoint(since_zero=since_zero):
                return _Given(self.maker.agent(AgentKind.TIME, f"AT {moment_text(since_zero)}"))
            case p.Sequence(policy=policy, parts=parts):
                word = "SEQ" if policy is p.Policy.ANY else f"SEQ {policy.value}"
                return self._folded(part, word, parts)
            case p.Conjunction(items=items):
                return self._folded(part, "AND", items)
            case p.Parallel(items=items):
                return self._folded(part, "PAR", items)
            case p.Disjunction(items=items):
                return self._joined(part, "OR", [self._part(item) for item in items])
            case p.Related(left=left, relations=relations, right=right):
                return self._joined(part, " or ".join(relations), [self._part(left), self._part(right)])
            case p.Except(pattern=left, other=right):
                return self._joined(part, "EXCEPT", [self._part(left), replace(self._part(right), name="NOT")])
            case p.LeftJoin(left=left, right=right):
                return self._joined(part, left_join_text(part), [self._part(left), self._part(right)])
            case p.Repetition(pattern=inner, low=low, high=high, eager=eager, maximal=maximal):
                mode = ", eager" if eager else ", maximal" if maximal else ""
                often = f"{low} to {'any' if high is None else high} times{mode}"
                return self._joined(part, often, [self._part(inner)])
            case p.Narrowed(pattern=inner, within=within, having=having, slot=slot):
                found = self._limited(self._part(inner), within, having)
                return found if slot is None else replace(found, name=self.names.slot(slot))
            case p.OtherRun(pattern=inner):
                return self._joined(part, "COMPLEMENT", [self._part(inner)])
            case p.Absent(pattern=inner):
                return replace(self._part(inner), name="NOT")
            case p.Deadline(after=after):
                return _Given(self.maker.agent(AgentKind.TIME, f"AFTER {span_text(after)}"))
            case p.StreamStart():
                return _Given(self.maker.agent(AgentKind.TIME, "AT START"))
            case p.Quantified(left=x, relations=relations, right=y, within=within):
                limit = "" if within is None else f" WITHIN {window_text(within)}"
                title = f"{quantity_text(x)} {' or '.join(relations)} {quantity_text(y)}{limit}"
                return self._joined(part, title, [self._leaf(x.leaf), self._leaf(y.leaf)])
            case p.Sliding(leaf=leaf, last=last, since=since):
                takes = [self._leaf(leaf), *([] if since is None else [self._leaf(since)])]
                return _Given(self.maker.agent(AgentKind.WINDOW, f"LAST {window_text(last)}", (), takes))

    def _folded(self, pattern: p.Sequence | p.Conjunction | p.Parallel, word: str, parts: Sequence[p.Part]) -> _Given:
        """One agent per part but the first, each joining it with what those before it have found."""
        held: _Given | None = None
        waiting: list[_Given] = []  # absences and starts, until the part that they stand before
        for place, part in enumerate(parts):
            given = self._part(part)
            if isinstance(part, p.Absent | p.StreamStart) and place < len(parts) - 1:
                waiting.append(given)
            elif held is None and not waiting:
                held = given
            else:
                first = _first_parts(pattern, place + 1)
                held = self._joined(first, word, [*([] if held is None else [held]), *waiting, given])
                waiting = []
        assert held is not None, "something happens in every sequence"
        return held

    def _joined(self, pattern: p.Pattern, word: str, takes: list[_Given]) -> _Given:
        """Joins of the same inputs are the same if their patterns are, whatever slots are called, and their limits."""
        conditions = tuple(condition for given in takes for condition in given.conditions)
        limits = (self.plan.within, self.plan.keep)
        return _Given(self.maker.agent(AgentKind.JOIN, word, conditions, takes, key=(pattern, limits)))

    def _leaf(self, leaf: p.Leaf) -> _Given:
        sources = leaf.sources or self.plan.scope
        found = [_Given(self.maker.source(source)) for source in sources]
        own = tuple(condition for condition in leaf.conditions if is_local(condition, leaf.slot))
        across = tuple(condition for condition in leaf.conditions if condition not in own)
        bare = replace(self.names, slots={**self.names.slots, leaf.slot: None})
        texts = tuple(expr_text(part, bare) for condition in own for part in e.conjuncts(condition))
        if texts or len(found) > 1:
            found = [_Given(self.maker.agent(AgentKind.FILTER, "filter" if texts else "any of", texts, found))]
        for atom in leaf.atoms:
            takes = [*found, _Given(self.maker.tables[atom.table])] if atom.table in self.maker.tables else found
            words = lookup_text(atom, bare)
            found = [_Given(self.maker.agent(AgentKind.ENRICH, "enrich", (words,), takes))]
        name = self.names.slots.get(leaf.slot) or ""
        checks = tuple(f"CHECK {text}" for text in self._texts(leaf.checks))
        return _Given(found[0].agent, name, (*self._texts(across), *checks))


def _word_for(outputs: tuple[p.Output, ...]) -> str:
    """What is done to the columns: left out, summed up or computed."""
    exprs = [output.expr for output in outputs]
    if any(isinstance(part, e.Aggregate) for expr in exprs for part in e.walk(expr)):
        return "aggregate"
    plain = e.ColumnOf | e.ListColumn | e.KeyColumn | e.Quantity | e.FactColumn
    return "project" if all(isinstance(expr, plain) for expr in exprs) else "translate"


def _first_parts(pattern: p.Sequence | p.Conjunction | p.Parallel, n_parts: int) -> p.Pattern:
    if isinstance(pattern, p.Sequence):
        return pattern if n_parts == len(pattern.parts) else replace(pattern, parts=pattern.parts[:n_parts])
    return pattern if n_parts == len(pattern.items) else replace(pattern, items=pattern.items[:n_parts])


_GIVEN = (AgentKind.STREAM, AgentKind.TABLE, AgentKind.RULE, AgentKind.TIME, AgentKind.AGAIN, AgentKind.EVENT)


def network_text(network: Network) -> str:
    """One tree per event; an agent of several events is printed once and then named by its number."""
    printed: set[int] = set()
    return "\n\n".join("\n".join(_event(network, event, printed)) for event in network.events)


def _event(network: Network, event: Agent, printed: set[int]) -> Iterator[str]:
    yield f"{event.title} ({', '.join(event.details)})"
    yield from _inputs(network, event, "", printed)


def _inputs(network: Network, agent: Agent, indent: str, printed: set[int]) -> Iterator[str]:
    inputs = network.inputs(agent)
    for place, (giver, name) in enumerate(inputs):
        last = place == len(inputs) - 1
        again = giver.number in printed and giver.kind not in _GIVEN
        yield f"{indent}{'└─ ' if last else '├─ '}{_line(network, giver, name, again)}"
        if not again and giver.kind not in _GIVEN:
            printed.add(giver.number)
            yield from _inputs(network, giver, indent + ("   " if last else "│  "), printed)


def _line(network: Network, agent: Agent, name: str, again: bool) -> str:
    number = f" #{agent.number}" if agent.kind not in _GIVEN and network.uses(agent) > 1 else ""
    if again:
        return f"{agent.title}{number}, as above{f': {name}' if name else ''}"
    kind = (
        f"{agent.kind.value} "
        if agent.kind in (AgentKind.STREAM, AgentKind.TABLE, AgentKind.RULE, AgentKind.EVENT)
        else ""
    )
    details = f" ({'; '.join(agent.details)})" if agent.details and agent.kind not in _GIVEN else ""
    return f"{kind}{agent.title}{number}{details}{f': {name}' if name else ''}"
