"""Binds one FORECAST: the event that it predicts, what it predicts, and the features of its model."""

from dataclasses import replace

from inkling.language import syntax as s
from inkling.logical import plan as p
from inkling.logical.binding.catalog import Catalog, broken_source, common_columns
from inkling.logical.binding.clocks import TimeUses, check_times
from inkling.logical.binding.diagnostics import Diagnostics, did_you_mean, listed
from inkling.logical.binding.events.clauses import reject_early
from inkling.logical.binding.events.event import bind_event
from inkling.logical.binding.events.outputs import event_source
from inkling.logical.binding.expressions import to_span
from inkling.logical.forecasts import DISTRIBUTION, FORECAST_COLUMNS, default_model, forecast_plan
from inkling.logical.settings import MOST_AHEAD
from inkling.model.schema import Column
from inkling.model.time import Duration

HORIZON = 200
"""Default number of events that a forecast looks ahead."""

CONFIDENCE = 0.5
"""Default probability that an interval must reach."""


def bind_forecast(
    decl: s.ForecastDecl, events: dict[str, p.EventPlan], catalog: Catalog, diagnostics: Diagnostics
) -> p.EventPlan | None:
    """The plan of one forecast, which also enters the catalog; None when it has an error."""
    n_errors = diagnostics.n_errors
    name = decl.result.text
    own = catalog.sources.get(name)
    if own is not None and not own.has_error:
        return None  # a duplicate name is reported elsewhere
    event = events.get(decl.event.text)
    if event is None:
        _no_event(decl, catalog, diagnostics)
    else:
        _check_clauses(decl, event, catalog, diagnostics)
        _reject_taken_columns(decl, event, diagnostics)
        _check_duration(decl, event, catalog, diagnostics)
        features = _features(decl, event, catalog, diagnostics)
        by = _by(decl, event, catalog, diagnostics)
        if diagnostics.n_errors == n_errors:
            plan = forecast_plan(event, name, _forecast(decl, features, by), _confidence(decl))
            _enter(plan, catalog)
            return plan
    catalog.sources[name] = replace(broken_source(name, is_derived=True), is_forecast=True)
    return None


def _no_event(decl: s.ForecastDecl, catalog: Catalog, diagnostics: Diagnostics) -> None:
    known = catalog.sources.get(decl.event.text)
    if known is not None and known.has_error:
        return
    if known is not None and known.is_derived:
        advice = ["forecast the event itself"]
        diagnostics.error("INK0366", f"`{decl.event}` is itself a forecast", decl.event, helps=advice)
        return
    events = [source.name for source in catalog.sources.values() if source.is_derived and not source.is_forecast]
    notes = [f"`{decl.event}` is a stream"] if known is not None and not known.is_derived else []
    helps = did_you_mean(decl.event.text, events)
    if not helps and events:
        helps = (f"the events of this program are {listed(events)}",)
    diagnostics.error("INK0205", f"unknown event `{decl.event}`", decl.event, notes=notes, helps=helps)


def _check_clauses(decl: s.ForecastDecl, event: p.EventPlan, catalog: Catalog, diagnostics: Diagnostics) -> None:
    if decl.confidence is not None and decl.confidence.early:
        reject_early(decl.confidence, "a forecast is emitted with the event it is made at", diagnostics)
    if decl.spread is not None and not isinstance(decl.kind, s.ForecastInterval):
        diagnostics.error(
            "INK0366",
            "SPREAD limits the width of an interval, and this forecast has none",
            decl.kind,
            helps=["leave SPREAD out, or forecast `INTERVAL SHORTEST`"],
        )
    if decl.spread is not None and isinstance(decl.kind, s.ForecastInterval) and decl.kind.mode == "FIXED":
        diagnostics.error(
            "INK0366",
            "SPREAD limits the width of an interval, and this one is fixed",
            decl.kind,
            helps=["leave SPREAD out"],
        )
    if decl.horizon is not None and isinstance(decl.kind, s.ForecastWithin):
        diagnostics.error(
            "INK0366",
            "HORIZON and WITHIN both limit how far the forecast looks ahead",
            decl.kind,
            helps=["leave HORIZON out"],
        )
    ahead = max(_kind(decl.kind)[1] or 0, decl.horizon or 0)
    if ahead > MOST_AHEAD:
        diagnostics.error(
            "INK0366",
            f"a forecast looks at most {MOST_AHEAD} events ahead, found `{ahead}`",
            decl.kind,
            notes=["it stores a number per event ahead and state"],
        )


def _reject_taken_columns(decl: s.ForecastDecl, event: p.EventPlan, diagnostics: Diagnostics) -> None:
    taken_names = {column.name for column in (*FORECAST_COLUMNS, *((DISTRIBUTION,) if decl.distribution else ()))}
    for column in event.partition:
        if column.name in taken_names:
            diagnostics.error(
                "INK0366",
                f"`{event.name}` is PARTITION BY `{column.name}`, and every forecast has a column `{column.name}`",
                decl.event,
                notes=[f"forecasts have {listed(sorted(taken_names))}"],
                helps=[f"give the column of the stream another name: `DERIVE my_{column.name} = {column.name}`"],
            )


def _features(
    decl: s.ForecastDecl, event: p.EventPlan, catalog: Catalog, diagnostics: Diagnostics
) -> tuple[p.Leaf, ...]:
    """Conditions on single events of the scope, each bound as a pattern of one event."""
    found = []
    for feature in decl.features:
        leaf = s.Leaf((), condition=feature, span=feature.span)
        one = s.EventDecl(
            s.Ident(decl.result.text, span=decl.event.span),
            None,
            s.Body(leaf, span=feature.span),
            partition_by=tuple(s.Ident(column.name, span=decl.event.span) for column in event.partition),
            over=tuple(s.Ident(source, span=decl.event.span) for source in event.scope),
            span=feature.span,
        )
        bound = bind_event(one, catalog, diagnostics)
        if bound is not None:
            assert isinstance(bound.plan.pattern, p.Leaf)
            found.append(bound.plan.pattern)
    return tuple(found)


def _check_duration(decl: s.ForecastDecl, event: p.EventPlan, catalog: Catalog, diagnostics: Diagnostics) -> None:
    if isinstance(decl.kind, s.ForecastWithin) and isinstance(decl.kind.horizon, s.Duration):
        if not decl.kind.horizon.amount:
            diagnostics.error("INK0366", "WITHIN must be longer than zero", decl.kind)
        uses = TimeUses(spans=[(to_span(decl.kind.horizon), decl.kind.horizon.span)])
        check_times(uses, catalog.sources[event.name].streams, decl.event.span, catalog, diagnostics)


def _by(decl: s.ForecastDecl, event: p.EventPlan, catalog: Catalog, diagnostics: Diagnostics) -> Column | None:
    """The column that selects the model of an event; all streams of the scope have it."""
    if decl.by is None:
        return None
    columns = common_columns(tuple(catalog.sources[name] for name in event.scope))
    kind = columns.get(decl.by.text)
    if kind is None:
        helps = did_you_mean(decl.by.text, columns)
        diagnostics.error("INK0207", f"no column of {listed(event.scope)} is called `{decl.by}`", decl.by, helps=helps)
        return None
    return Column(decl.by.text, kind)


def _forecast(decl: s.ForecastDecl, features: tuple[p.Leaf, ...], by: Column | None) -> p.Forecast:
    kind, count, within = _kind(decl.kind)
    return p.Forecast(
        decl.event.text,
        kind,
        decl.model.text if decl.model is not None else default_model(decl.event.text),
        by,
        count,
        within,
        decl.order,
        count if kind is p.ForecastKind.WITHIN and count is not None else decl.horizon or HORIZON,
        decl.spread,
        features,
        None if decl.remaining is None else (decl.remaining.lo, decl.remaining.hi),
        decl.including_final,
        decl.distribution,
    )


def _kind(kind: s.ForecastKind) -> tuple[p.ForecastKind, int | None, Duration | None]:
    """The kind of a forecast, with its number of events or its length of time."""
    match kind:
        case s.ForecastWithin(horizon=horizon):
            if isinstance(horizon, s.Duration):
                return p.ForecastKind.WITHIN, None, to_span(horizon)
            return p.ForecastKind.WITHIN, horizon.n, None
        case s.ForecastAround(horizon=horizon):
            return p.ForecastKind.AROUND, horizon.n, None
        case s.ForecastPoint():
            return p.ForecastKind.POINT, None, None
        case s.ForecastInterval(mode=mode, width=width):
            return p.ForecastKind(mode), width, None


def _confidence(decl: s.ForecastDecl) -> p.Confidence | None:
    if decl.confidence is not None:
        return p.Confidence(decl.confidence.threshold, decl.confidence.op == ">")
    return p.Confidence(CONFIDENCE, strict=False) if isinstance(decl.kind, s.ForecastInterval) else None


def _enter(plan: p.EventPlan, catalog: Catalog) -> None:
    main = catalog.sources[p.forecast_of(plan).of]
    catalog.sources[plan.name] = event_source(plan, main.streams, main.uncertain, is_interval=False, is_forecast=True)
