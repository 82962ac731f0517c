"""The column types of the language and how they combine."""

from enum import Enum


class Type(Enum):
    """Type of a column or an expression.

    `TIME` is an instant and `DURATION` a distance between instants. Both are counted in the stream's own
    unit: microseconds when its time column holds timestamps, ticks when it holds integers. `TERM` is an RDF term,
    stored as text in the canonical form of `model.terms`. `WEIGHTS` is a list of numbers, one per tick of an imprecise
    time; no expression has it.
    """

    BOOLEAN = "BOOLEAN"
    INTEGER = "INTEGER"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    TERM = "TERM"
    TIME = "TIME"
    DURATION = "DURATION"
    NULL = "NULL"
    WEIGHTS = "WEIGHTS"

    @property
    def is_numeric(self) -> bool:
        return self in (Type.INTEGER, Type.DOUBLE)

    @property
    def is_text(self) -> bool:
        """Whether the values are stored as text."""
        return self in (Type.STRING, Type.TERM)

    @property
    def is_temporal(self) -> bool:
        return self in (Type.TIME, Type.DURATION)

    def __str__(self) -> str:
        return self.value


TYPE_NAMES = {
    "BOOLEAN": Type.BOOLEAN,
    "BOOL": Type.BOOLEAN,
    "TINYINT": Type.INTEGER,
    "SMALLINT": Type.INTEGER,
    "INT": Type.INTEGER,
    "INTEGER": Type.INTEGER,
    "BIGINT": Type.INTEGER,
    "LONG": Type.INTEGER,
    "FLOAT": Type.DOUBLE,
    "REAL": Type.DOUBLE,
    "DOUBLE": Type.DOUBLE,
    "STRING": Type.STRING,
    "VARCHAR": Type.STRING,
    "TEXT": Type.STRING,
    "TERM": Type.TERM,
    "TIMESTAMP": Type.TIME,
    "TIME": Type.TIME,
}
"""Types by their names in declarations, in upper case."""

FOREIGN_TYPE_NAMES = {
    name: kind
    for kind, names in {
        Type.BOOLEAN: "BIT LOGICAL",
        Type.INTEGER: "BYTE SHORT INT2 INT4 INT8 INT16 INT32 INT64 UINT UINT8 UINT16 UINT32 UINT64 MEDIUMINT HUGEINT"
        " SERIAL BIGSERIAL UNSIGNED",
        Type.DOUBLE: "DECIMAL DEC NUMERIC NUMBER FLOAT4 FLOAT8 FLOAT32 FLOAT64 MONEY DOUBLE_PRECISION BIGDECIMAL",
        Type.STRING: "CHAR CHARACTER NCHAR NVARCHAR VARCHAR2 BPCHAR CLOB STR UTF8 UUID GUID ENUM SYMBOL SET JSON",
        Type.TIME: "DATETIME DATETIME2 DATE TIMESTAMPTZ TIMESTAMP_LTZ TIMESTAMP_NTZ TIMESTAMPNTZ INSTANT SMALLDATETIME",
    }.items()
    for name in names.split()
}
"""Type names of other languages and the nearest type, for messages; declarations reject them."""


def common_type(left: Type, right: Type) -> Type | None:
    """The type to which both operands of a comparison or union are converted, or None."""
    if left is right or right is Type.NULL:
        return left
    if left is Type.NULL:
        return right
    if left.is_numeric and right.is_numeric:
        return Type.DOUBLE
    pair = {left, right}
    if Type.INTEGER in pair and (Type.TIME in pair or Type.DURATION in pair):
        return Type.TIME if Type.TIME in pair else Type.DURATION
    if Type.DOUBLE in pair and Type.DURATION in pair:
        return Type.DOUBLE
    return None
