"""The functions that rules know are those of the language."""

from inkling.language.ele.functions import FUNCTIONS, RENAMED
from inkling.logical.functions import FUNCTIONS as IN_PROGRAMS


def test_types_are_those_of_programs() -> None:
    known = {name: types for name, types in FUNCTIONS.items() if name not in RENAMED}
    assert known == {
        name: (tuple(type.value for type in one.parameters), one.result.value) for name, one in IN_PROGRAMS.items()
    }
    assert all(FUNCTIONS[name] == FUNCTIONS[other] for name, other in RENAMED.items())
