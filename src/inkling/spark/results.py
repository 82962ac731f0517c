"""The result columns as columns of DataFrames, and what is decided once all workers have returned their results.

Workers return times as numbers and values under their physical names. `public_frame` makes the public columns of them,
as `inkling.results.public_table` does of `Matches`.
"""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from inkling.evaluators.division import COUNT, SURVIVAL, Finish
from inkling.evaluators.result_rows import DETECTED, ERROR, ESTIMATES, LINEAGE, METHOD, PROBABILITY, TIMES
from inkling.evaluators.stage.rows import format as r
from inkling.logical import plan as p
from inkling.logical.plan import EventPlan
from inkling.logical.settings import is_forecast
from inkling.model.time import YEARS_US, Clock
from inkling.model.types import Type
from inkling.physical.naming import physical_name
from inkling.results import (
    ADDED,
    CHANCE,
    EXACT,
    FORECAST,
    MARGIN,
    ROUNDING,
    SAMPLED,
    UNDECIDED,
    WITHDRAWN,
    NotExact,
    comparable_head,
)
from inkling.spark.stage_frame import named


def certain_frame(event: EventPlan, frame: DataFrame) -> DataFrame:
    """Results over certain streams with probability, method and error; those of forecasts come from the model."""
    probability, method, error = F.lit(1.0), F.lit(EXACT), F.lit(0.0)
    if is_forecast(event):
        probability, error = (named(physical_name(name, Type.DOUBLE)) for name in (CHANCE, MARGIN))
        method = F.lit(FORECAST)
    return frame.select("*", probability.alias(PROBABILITY), method.alias(METHOD), error.alias(ERROR))


def public_frame(event: EventPlan, frame: DataFrame, clock: Clock) -> DataFrame:
    """Results of one event in the public columns."""
    columns = [F.lit(event.name).alias("event")]
    for output in (*event.head, *event.returns):
        value = named(physical_name(output.name, output.type))
        columns.append((in_time(value, clock) if output.type is Type.TIME else value).alias(output.name))
    columns += [in_time(named(internal), clock).alias(name) for name, internal in TIMES.items()]
    columns += [named(internal).alias(name) for name, internal in ESTIMATES.items()]
    return frame.select(*columns, F.lit(ADDED).alias("op"), named(LINEAGE).alias("lineage"))


def in_time(number: Column, clock: Clock) -> Column:
    """Times as users see them."""
    if clock is not Clock.TIMESTAMP:
        return number
    first, last = (F.lit(end) for end in YEARS_US)
    return F.timestamp_micros(F.when(number < first, first).when(number > last, last).otherwise(number))


def retracted(results: DataFrame, name: str) -> DataFrame:
    """The output of ON RETRACT: the withdrawn results, each as an event of that name."""
    return results.where(F.col("op") == WITHDRAWN).withColumns({"event": F.lit(name), "op": F.lit(ADDED)})


def finished(event: EventPlan, found: DataFrame, finish: Finish) -> DataFrame:
    """The results of one event, from the rows of all workers."""
    if finish.by is not None:
        found = _any_derivation(event, found, finish.by)
    if finish.negligible is not None:
        chance = F.least(F.greatest(named(PROBABILITY), F.lit(0.0)), F.lit(1.0))
        found = found.withColumn(PROBABILITY, chance)
        found = found.withColumn(METHOD, methods(event.confidence, finish.negligible))
    if finish.not_exact is not None:
        require_exact(event, found, finish.not_exact)
    if finish.negligible is not None:
        found = found.where(may_reach(event.confidence))
    return most_probable(event, found) if finish.is_ranked else found


def _any_derivation(event: EventPlan, derivations: DataFrame, by: tuple[str, ...]) -> DataFrame:
    """One row per result, with the probability that any of its derivations exists; derivations are independent."""
    values = [physical_name(output.name, output.type) for output in (*event.head, *event.returns)]
    best = F.struct(-named(r.END), -named(PROBABILITY), named(LINEAGE))
    grouped = derivations.groupBy(*map(named, by)).agg(
        F.min(named(r.START)).alias(r.START),
        F.max(named(DETECTED)).alias(DETECTED),
        *(F.first(named(name)).alias(name) for name in (*values, METHOD)),
        *([] if r.END in by else [F.max(named(r.END)).alias(r.END)]),
        *(F.sum(named(name)).alias(name) for name in (ERROR, SURVIVAL, COUNT)),
        F.min_by(F.struct(named(LINEAGE), named(PROBABILITY)), best).alias("@best"),
    )
    lineage, alone = (named("@best").getField(name) for name in (LINEAGE, PROBABILITY))
    chance = F.when(named(COUNT) == 1, alone).otherwise(-F.expm1(named(SURVIVAL)))
    return grouped.withColumns({PROBABILITY: chance, LINEAGE: lineage})


def most_probable(event: EventPlan, frame: DataFrame) -> DataFrame:
    """The results that TOP leaves: those with the largest probability; ties by start, lineage, end and head."""
    if event.top is None:
        return frame
    ids = F.transform(named(LINEAGE), lambda one: F.coalesce(one.cast("string"), F.lit("None")))
    comparable = comparable_head(event)
    head = [named(physical_name(one.name, one.type)).asc_nulls_last() for one in event.head if one.name in comparable]
    return frame.orderBy(named(PROBABILITY).desc(), named(r.START), ids, named(r.END), *head).limit(event.top)


def reaches(probability: Column, confidence: p.Confidence | None) -> Column:
    """Whether probabilities reach the CONFIDENCE threshold."""
    if confidence is None:
        return F.lit(True)
    if confidence.strict:
        return probability > F.lit(confidence.threshold + ROUNDING)
    return probability >= F.lit(confidence.threshold - ROUNDING)


def may_reach(confidence: p.Confidence | None) -> Column:
    """Whether results are possible and may reach the CONFIDENCE threshold, given their error."""
    probability, error = named(PROBABILITY), named(ERROR)
    return reaches(F.least(probability + error, F.lit(1.0)), confidence) & (probability > 0)


def methods(confidence: p.Confidence | None, negligible: float) -> Column:
    """`exact` where the error is negligible; else `sampled`, or `undecided` if the error leaves CONFIDENCE open."""
    probability, error = named(PROBABILITY), named(ERROR)
    decided = reaches(probability - error, confidence)
    return F.when(error <= negligible, F.lit(EXACT)).when(decided, F.lit(SAMPLED)).otherwise(F.lit(UNDECIDED))


def require_exact(event: EventPlan, results: DataFrame, problem: NotExact) -> None:
    """Raises `InputError` if answers were sampled, for an event that demands EXACT; this computes the results."""
    sampled = named(METHOD).isin(SAMPLED, UNDECIDED)
    found = results.agg(F.count_if(sampled), F.count(F.lit(1)), F.max(F.when(sampled, named(ERROR)))).first()
    if found is not None and found[0]:
        raise problem(event, found[0], found[1], found[2])
