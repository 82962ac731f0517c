"""Aggregates written in Python by the user, and how they are pickled for other processes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from inkling.errors import InputError
from inkling.model.event import Value
from inkling.model.types import Type

if TYPE_CHECKING:
    import numpy as np

Implementation = Callable[..., Any]
Made = TypeVar("Made", bound=Implementation)

REGISTERED: dict[str, UserAggregate] = {}
"""The aggregates that programs may use, by name."""

_BUILT_IN = frozenset({"COUNT", "SUM", "AVG", "MIN", "MAX", "STDDEV", "MEDIAN", "FIRST", "LAST"})


@dataclass(frozen=True, slots=True)
class UserAggregate:
    """A function of an array of values, or a class with `add`, `remove` and `value`."""

    name: str
    returns: Type
    made_by: Implementation = field(repr=False)

    @property
    def is_incremental(self) -> bool:
        return isinstance(self.made_by, type)

    def start(self) -> Any:
        """A new instance of an incremental aggregate."""
        return self.made_by()

    def of(self, values: np.ndarray) -> Value:
        """The aggregate of some values, none of which is missing."""
        if not len(values):
            return None
        if not self.is_incremental:
            return self.checked(self.made_by(values))
        state = self.start()
        for value in values.tolist():
            state.add(value)
        return self.checked(state.value())

    def checked(self, value: Any) -> Value:
        """A result as a value of the declared type."""
        import numpy as np

        if isinstance(value, np.generic):
            value = value.item()
        if value is None:
            return None
        if self.returns is Type.DOUBLE and isinstance(value, int | float) and not isinstance(value, bool):
            number = float(value)
            return number if number - number == 0 else None
        if isinstance(value, int | float | str) and type(value) is _PYTHON_TYPES[self.returns]:
            return value
        raise InputError.of(
            "INK0358",
            f"the aggregate `{self.name}` returned {value!r}, expected {self.returns}",
            helps=("declare its type: `@inkling.aggregate(name, returns=…)`",),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.name, self.returns, _source_of(self.made_by))


_PYTHON_TYPES: dict[Type, type] = {Type.DOUBLE: float, Type.INTEGER: int, Type.STRING: str, Type.BOOLEAN: bool}

_sources: dict[Implementation, bytes] = {}  # of implementations that have been sent or received
_received: dict[bytes, Implementation] = {}


def _restored(name: str, returns: Type, source: bytes) -> UserAggregate:
    if source not in _received:
        made = _pickler().loads(source)
        _received[source] = made
        _sources[made] = source
    return UserAggregate(name, returns, _received[source])


def aggregate(name: str, returns: str = "DOUBLE") -> Callable[[Made], Made]:
    """Decorator: have programs use a function or class as an aggregate, `name(w.x)`.

    A function gets a NumPy array of the values of a list that are not null, of which there is at least one. A class
    is made without arguments for each list; `add(value)` and `remove(value)` add and drop values, the
    oldest first, and `value()` asks for the result. Either way the result must depend on nothing but these values.
    """
    kind = Type.__members__.get(returns.upper())
    if kind not in _PYTHON_TYPES:
        raise ValueError(f"an aggregate returns one of {', '.join(one.name for one in _PYTHON_TYPES)}, not {returns}")
    if name.upper() in _BUILT_IN or not name.isidentifier():
        raise ValueError(f"an aggregate cannot be called {name!r}")

    def register(made: Made) -> Made:
        if isinstance(made, type):
            lacking = [method for method in ("add", "remove", "value") if not callable(getattr(made, method, None))]
            if lacking:
                raise ValueError(f"the aggregate {name!r} has no method {lacking[0]!r}")
        REGISTERED[name] = UserAggregate(name, kind, made)
        return made

    return register


def _source_of(made: Implementation) -> bytes:
    """The implementation pickled by value: other processes may not be able to import its module."""
    if made not in _sources:
        pickler = _pickler()
        module = sys.modules.get(made.__module__)
        if module is None or made.__module__ == "__main__":
            _sources[made] = bytes(pickler.dumps(made))
        else:
            pickler.register_pickle_by_value(module)
            try:
                _sources[made] = bytes(pickler.dumps(made))
            finally:
                pickler.unregister_pickle_by_value(module)
        _received[_sources[made]] = made  # what comes back is the same
    return _sources[made]


def _pickler() -> Any:
    return import_module("pyspark.cloudpickle")
