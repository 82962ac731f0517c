"""Forecasts as events: the columns of their results, and the tables of their models."""

from dataclasses import replace

from inkling.logical import expr as e
from inkling.logical import plan as p
from inkling.logical.rewrites.everywhere import Renumbering
from inkling.model.schema import Column, EventSchema, TableSchema
from inkling.model.types import Type
from inkling.whole_files import file_name

FORECAST = -3
"""The slot of the columns that the evaluator of forecasts computes."""

FORECAST_COLUMNS = (
    Column("event_number", Type.INTEGER),
    Column("first", Type.INTEGER),
    Column("last", Type.INTEGER),
    Column("expected", Type.DOUBLE),
    Column("chance", Type.DOUBLE),
    Column("margin", Type.DOUBLE),
    Column("model", Type.INTEGER),
)
"""The columns of a forecast.

`event_number`: the event of its key after which it was made; `first`, `last`: the interval of the forecast in events
ahead; `expected`: the expected number of events ahead; `chance`: the probability of the interval; `margin`: the error
bound of that probability; `model`: the version of the model. Forecasts within a duration do not count events, so their
numbers of events are null."""

DISTRIBUTION = Column("distribution", Type.WEIGHTS)
"""The probabilities of waiting for one event, for two, …; the rest is the probability of waiting longer."""

WATCH_COLUMNS = (Column("life", Type.INTEGER), Column("detected", Type.BOOLEAN))
"""How often the key was reset before, and whether the event completes the pattern."""

PLACE_COLUMNS = (Column("@family", Type.INTEGER), Column("@state", Type.INTEGER))
"""The model that made a forecast, and the state of its chain."""

COUNT_COLUMNS = (
    Column("what", Type.STRING),
    Column("group", Type.STRING),
    Column("state", Type.INTEGER),
    Column("length", Type.INTEGER),
    Column("code", Type.INTEGER),
    Column("symbol", Type.INTEGER),
    Column("gap_low", Type.INTEGER),
    Column("gap_high", Type.INTEGER),
    Column("count", Type.DOUBLE),
)
"""Training counts: words of symbols by the state of the automaton before their last symbol, and gaps in time."""

MODEL_COLUMNS = (*COUNT_COLUMNS, Column("about", Type.STRING))
"""The columns of a table that holds a model; the row `about` describes the model in JSON."""


def default_model(event: str) -> str:
    return f"{event}_model"


def model_table(name: str, made_by: str = "inkling fit") -> TableSchema:
    """The schema of the table of a model; by default the file is next to the program."""
    return TableSchema(name, MODEL_COLUMNS, f"{file_name(name)}.parquet", made_by)


def forecast_plan(event: p.EventPlan, name: str, forecast: p.Forecast, confidence: p.Confidence | None) -> p.EventPlan:
    """The event `name` whose results are forecasts of an event; features become slots after those of the pattern."""
    n_slots = 1 + max((slot.number for slot in event.slots), default=-1)
    numbers = [Renumbering({leaf.slot: n_slots + place}, {}) for place, leaf in enumerate(forecast.features)]
    features = tuple(one.pattern(leaf) for one, leaf in zip(numbers, forecast.features, strict=True))
    forecast = replace(forecast, features=tuple(leaf for leaf in features if isinstance(leaf, p.Leaf)))
    slots = (*event.slots, *(p.Slot(leaf.slot, None, leaf.sources, False, False) for leaf in forecast.features))
    forecast_columns = (*FORECAST_COLUMNS, DISTRIBUTION) if forecast.distribution else FORECAST_COLUMNS
    keys = tuple(p.Output(column.name, e.KeyColumn(column.name, column.type)) for column in event.partition)
    head = (
        *keys,
        *(p.Output(column.name, e.ColumnOf(FORECAST, column.name, column.type)) for column in forecast_columns),
    )
    return _with_results(replace(event, name=name, slots=slots, forecast=forecast, confidence=confidence), head)


def learning_plan(event: p.EventPlan) -> p.EventPlan:
    """The forecast as a training run: its results are the counts that its model is learned from."""
    head = tuple(p.Output(column.name, e.ColumnOf(FORECAST, column.name, column.type)) for column in COUNT_COLUMNS)
    return _with_results(replace(event, forecast=replace(p.forecast_of(event), learns=True), confidence=None), head)


def watching_plan(event: p.EventPlan) -> p.EventPlan:
    """The forecast with the truth: a result for every event of the scope, with the forecast made there, if any."""
    watched = tuple(p.Output(column.name, e.ColumnOf(FORECAST, column.name, column.type)) for column in WATCH_COLUMNS)
    return _with_results(replace(event, forecast=replace(p.forecast_of(event), watches=True)), (*event.head, *watched))


def placed_plan(event: p.EventPlan) -> p.EventPlan:
    """The forecast with the state of the chain in which it was made, for explanations."""
    places = tuple(p.Output(column.name, e.ColumnOf(FORECAST, column.name, column.type)) for column in PLACE_COLUMNS)
    return replace(event, head=(*event.head, *places))


def _with_results(event: p.EventPlan, head: tuple[p.Output, ...]) -> p.EventPlan:
    columns = tuple(Column(output.name, output.type) for output in head)
    schema = EventSchema(event.name, columns, event.schema.is_ordered, is_interval=False)
    return replace(event, head=head, returns=(), per=p.Per.END, schema=schema, top=None, demand=None)
