"""The rows of a stage as a DataFrame: Spark joins tables, evaluates conditions and drops rows that cannot match."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StringType

from inkling.evaluators.stage.rows import format as r
from inkling.evaluators.stage.rows.derive import stored_columns
from inkling.evaluators.stage.rows.facts import BEYOND, CELL, FARTHEST_LON, CellsOfFacts, cells_of_facts
from inkling.logical import expr as e
from inkling.logical.evaluate import ExpressionContext
from inkling.logical.plan import StreamPlan, TableAtom
from inkling.physical.conditions import Near
from inkling.physical.naming import fact_name
from inkling.physical.plan import Input, Stage
from inkling.spark.expressions import SPARK_TYPES, pack_word, to_column


def named(column: str) -> Column:
    """A column by its name, which may contain any character."""
    return F.col("`" + column.replace("`", "``") + "`")


def plainly_named(frame: DataFrame) -> DataFrame:
    """The frame with numbered columns, because names with dots cannot enter a Python worker."""
    return frame.toDF(*(f"c{number}" for number in range(len(frame.columns))))


@dataclass(frozen=True, slots=True)
class RowReferences:
    """Resolves references to the row itself against a DataFrame with logical and fact columns."""

    columns: frozenset[str]

    def __call__(self, expr: e.Expr) -> Column:
        match expr:
            case e.ColumnOf(column=column):
                return named(column if column in self.columns else column.rsplit("|", 1)[0])
            case e.FactColumn(atom=atom, column=column, type=kind):
                return named(fact_name(atom, column, kind))
            case e.KeyColumn(column=column):
                return named(column)
            case e.TimeOf(edge=edge):
                return named(r.START if edge is e.Edge.START else r.END)
            case e.IdOf():
                return named(r.ID)
            case _:
                raise AssertionError(f"{type(expr).__name__} does not look at one row")


def input_frame(
    stage: Stage,
    number: int,
    source: DataFrame,
    tables: Mapping[str, DataFrame],
    facts: Mapping[str, pa.Table],
    context: ExpressionContext,
    stream: StreamPlan | None,
) -> DataFrame:
    """The stage rows of one input; with `stream`, the worker computes its derived columns."""
    given = stage.inputs[number]
    for column in given.key if stage.drops_null_keys else ():
        source = source.where(named(column).isNotNull())
    for atom in given.atoms:
        near = given.near if given.near is not None and given.near.atom == atom.number else None
        placed = None if near is None else cells_of_facts(near, atom, facts[atom.table])
        if near is None or placed is None:
            source = _with_facts(source, atom, tables[atom.table], context)
        else:
            source = _with_near_facts(source, atom, near, placed, context)
    references = RowReferences(frozenset(source.columns))
    if given.keep is not None:
        source = source.where(to_column(given.keep, references, context.unit))
    if stage.mixed_places and not given.is_derived and r.PLACE in source.columns:
        source = source.withColumn(r.PLACE, _mixed_place(source.schema[r.PLACE].dataType))
    references = RowReferences(frozenset(source.columns))
    stored = _late_columns(given, references) if stream is None else stored_columns(given, stream)
    columns = [
        _column(field, given, number, stored, references, context).alias(field.name) for field in r.stage_schema(stage)
    ]
    known = set(r.stage_schema(stage).names)
    columns += [named(logical).alias(physical) for physical, logical in sorted(stored.items()) if physical not in known]
    return source.select(*columns)


def _mixed_place(kind: DataType) -> Column:
    """Places as `rows.prepare.mixed_places` writes them."""
    place = named(r.PLACE)
    if isinstance(kind, StringType):
        return F.concat(F.lit("1"), place)
    shifted = place.cast("decimal(20,0)") + F.lit(str(2**63)).cast("decimal(20,0)")
    return F.concat(F.lit("0"), F.lpad(shifted.cast("decimal(20,0)").cast("string"), 20, "0"))


def _late_columns(given: Input, references: RowReferences) -> dict[str, str]:
    """Columns that only conditions of the worker read: by physical name, the column that holds them."""
    read = {part.column for expr in given.left_to_worker for part in e.walk(expr) if isinstance(part, e.ColumnOf)}
    return {column: column if column in references.columns else column.rsplit("|", 1)[0] for column in read}


def _column(
    field: pa.Field,
    given: Input,
    number: int,
    stored: Mapping[str, str],
    references: RowReferences,
    context: ExpressionContext,
) -> Column:
    name = field.name
    kind = from_arrow_type(field.type)
    if name == r.SOURCE:
        return F.lit(number).cast(kind)
    if name.startswith("@key"):
        return named(given.key[int(name[4:])]).cast(kind)
    if name.startswith("@bits"):
        truths = {bit.number: to_column(bit.expr, references, context.unit) for bit in given.early}
        return pack_word(int(name[5:]), truths)
    if name in references.columns:
        return named(name).cast(kind)
    logical = name.rsplit("|", 1)[0]
    if name in stored or (name in given.columns and logical in references.columns):
        return named(logical).cast(kind)
    return F.lit(None).cast(kind)


def _with_near_facts(
    source: DataFrame, atom: TableAtom, near: Near, placed: CellsOfFacts, context: ExpressionContext
) -> DataFrame:
    """One row per event and agreeing fact near it: a join by the cell of its position instead of one with all facts."""
    references = RowReferences(frozenset(source.columns))
    lat, lon = (to_column(one, references, context.unit).cast("double") for one in (near.lat, near.lon))
    step_lat, step_lon = F.lit(placed.grid.lat_step), F.lit(placed.grid.lon_step)
    around_globe = F.pmod(lon, F.lit(360.0))
    cell = F.floor((lat + F.lit(90.0)) / step_lat) * F.lit(placed.grid.n_columns) + F.floor(around_globe / step_lon)
    regular = (F.abs(lat) <= F.lit(90.0)) & (F.abs(lon) <= F.lit(FARTHEST_LON))
    place = F.when(regular, cell.cast("long")).when(lat.isNotNull() & lon.isNotNull(), F.lit(BEYOND).cast("long"))
    facts = F.broadcast(source.sparkSession.createDataFrame(placed.rows))
    return source.join(facts, (named(CELL) == place) & _agrees(source, atom, context), "inner").drop(CELL)


def _with_facts(source: DataFrame, atom: TableAtom, table: DataFrame, context: ExpressionContext) -> DataFrame:
    """One row per event and agreeing fact; null agrees with nothing, as in SQL."""
    facts = table.select(
        *(
            named(column.name).cast(SPARK_TYPES[column.type]).alias(fact_name(atom.number, column.name, column.type))
            for column in atom.columns
        )
    ).distinct()
    return source.join(F.broadcast(facts), _agrees(source, atom, context), "inner")


def _agrees(source: DataFrame, atom: TableAtom, context: ExpressionContext) -> Column:
    """Whether a row and a fact have the same values in the columns that the atom compares."""
    references, agree = RowReferences(frozenset(source.columns)), F.lit(True)
    for column, arg in zip(atom.columns, atom.args, strict=True):
        if arg is not None:
            fact = named(fact_name(atom.number, column.name, column.type))
            agree = agree & (fact == to_column(arg, references, context.unit))
    return agree
