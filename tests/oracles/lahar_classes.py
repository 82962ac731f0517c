"""Small queries of every class, and how each is planned: the table by which analysis of probable queries is checked.

A plan is read from the outside: `PROJ` distinguishes values of a variable, `SEQ`, `COVER` and `GROUPSEQ` append
the last part, `REG` is an automaton. Without a plan, `obstacle` says why; `plan` is then
the part that was planned before.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

KEYS = {"R": 1, "S": 1, "T": 1, "At": 1, "RR": 2, "T2": 2, "Carries": 2, "R0": 0, "S0": 0, "W": 0}


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    query: str
    kind: str  # of all streams that have values; those without are independent
    printed: str  # the class, as written
    plan: str
    obstacle: str | None = None
    normal: str | None = None  # the class in normal form, where it is another one

    @property
    def id(self) -> str:
        return f"{self.number}-{self.kind}"

    @property
    def queries(self) -> str:
        """The query file."""
        goals = {type: len([one for one in terms.split(",") if one]) for type, terms in _GOAL.findall(self.query)}
        streams = [self._stream(type, arity) for type, arity in goals.items() if type in KEYS]
        relations = [_relation(name, arity) for name, arity in goals.items() if name not in KEYS]
        return "\n".join([*streams, *relations, f"x() : {self.query};"])

    def _stream(self, type: str, arity: int) -> str:
        columns = [f"c{place}" for place in range(arity)]
        keys, values = columns[: KEYS[type]], columns[KEYS[type] :]
        return f"stream {type}({', '.join(keys)} | {', '.join(values)}) {self.kind if values else 'independent'};"


_GOAL = re.compile(r"(\w+)\(([^()]*)\)")


def _relation(name: str, arity: int) -> str:
    return f"relation {name}({', '.join(f'c{place}' for place in range(arity))});"


TALK = (
    "sigma[Person(x) and Laptop(y) and Office(z) and LectureRoom(u)]"
    "(Carries(x,y,z) ; (Carries(x,y,_))+<{x,y}, true> ; At(x,u))"
)

ROWS = [
    Row(1, "R('a') ; R('b')", "independent", "regular", "REG"),
    Row(2, "R(x) ; S(y)", "independent", "regular", "REG"),
    Row(3, "At(x,l1) ; At(y,l2)", "independent", "regular", "REG"),
    Row(3, "At(x,l1) ; At(y,l2)", "markov", "regular", "REG"),
    Row(4, "R(x) ; S(x)", "independent", "extended regular", "PROJ REG"),
    Row(5, "At(x,l) ; At(x,l)", "independent", "unsafe", "PROJ", "JOIN_VAR"),
    Row(6, "(At(x,l))+<{x}, true>", "independent", "extended regular", "REG", normal="regular"),
    Row(7, "(At(x,l))+<{x,l}, true>", "independent", "unsafe", "REG", normal="regular"),
    Row(8, "R0() ; (S(x))+<{x}, true>", "independent", "unsafe", "", "KLEENE_VAR"),
    Row(9, "R0() ; S(x) ; T(x)", "independent", "unsafe", "", "JOIN_VAR"),
    Row(10, "R(x) ; S0() ; T(x)", "independent", "unsafe", "", "JOIN_VAR"),
    Row(11, "R(x) ; S(x) ; T2('a',y)", "independent", "safe", "SEQ PROJ REG"),
    Row(12, TALK, "independent", "safe", "PROJ SEQ PROJ REG"),
    Row(12, TALK, "markov", "safe", "PROJ SEQ PROJ REG"),
    Row(13, "RR(x,y) ; RR(x,y)", "independent", "extended regular", "PROJ PROJ REG"),
    Row(14, "RR(x,y) ; RR(y,x)", "independent", "unsafe", "", "JOIN_VAR"),
    Row(15, "RR(x,y) ; S(x)", "independent", "extended regular", "PROJ REG"),
    Row(16, "RR(x,y) ; RR(x,y) ; S(x)", "independent", "safe", "PROJ SEQ PROJ REG"),
    Row(17, "RR(x,y) ; S(x) ; S(y)", "independent", "unsafe", "", "JOIN_VAR"),
    Row(18, "R(x) ; S(x) ; R(y)", "independent", "safe", "GROUPSEQ PROJ REG"),
    Row(19, "At(p,l1) ; At(p,l2) ; At(q,l3)", "independent", "safe", "COVER PROJ REG"),
    Row(19, "At(p,l1) ; At(p,l2) ; At(q,l3)", "markov", "safe", "GROUPSEQ PROJ REG"),
    Row(20, "R(x) ; S(x) ; T(y) ; T(z)", "independent", "safe", "COVER SEQ PROJ REG"),
    Row(20, "R(x) ; S(x) ; T(y,u) ; T(z,w)", "markov", "safe", "", "OVERLAP"),  # a chain needs values
    Row(21, "R(x) ; S(x) ; (T(u))+<{u}, true>", "independent", "unsafe", "", "KLEENE_VAR"),
    Row(22, "sigma[u = 'ok'](R(x) ; S(x) ; T('k',u)) ; W()", "independent", "safe", "", "INNER_REJECT"),
    Row(23, "sigma[th(x,y)](R(x) ; S(y))", "independent", "unsafe", "", "NONLOCAL"),
]
