"""The functions that rules know are those of the language, except for functions of RDF terms and their texts."""

from inkling.language.ele.functions import FUNCTIONS, RENAMED
from inkling.logical.functions import FUNCTIONS as IN_PROGRAMS
from inkling.logical.functions import Function
from inkling.model.types import Type

OF_TEXTS_OF_TERMS = ("regex", "langmatches")


def is_of_terms(function: Function) -> bool:
    return Type.TERM in (*function.parameters, function.result) or function.name in OF_TEXTS_OF_TERMS


def test_types_are_those_of_programs() -> None:
    known = {name: types for name, types in FUNCTIONS.items() if name not in RENAMED}
    assert known == {
        name: (tuple(type.value for type in one.parameters), one.result.value)
        for name, one in IN_PROGRAMS.items()
        if not is_of_terms(one)
    }
    assert all(FUNCTIONS[name] == FUNCTIONS[other] for name, other in RENAMED.items())
