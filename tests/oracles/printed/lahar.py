"""Queries printed in the paper on Lahar (Ré, Letchner, Balazinska, Suciu, SIGMOD 2008), by section.

`σ` with a subscript is `sigma[…]`, angle brackets are `<` and `>`, the empty set is `{}`, keys are not underlined. The
streams have the columns that the paper names in prose; all probabilities are exact in binary.
"""

from collections.abc import Iterator

from tests.oracles.printed.printed_text import PrintedText

_AT = "stream At(p | l) independent;\n"
_HALLS = "relation Hallway(room); relation Person(name);\n"


def _at(person: str, *where: tuple[int, str, float]) -> list[dict[str, object]]:
    return [{"p": person, "l": room, "t": time, "probability": chance} for time, room, chance in where]


def _of(column: str, *values: str) -> list[dict[str, object]]:
    return [{column: value} for value in values]


_TABLES = {
    "Hallway": _of("room", "h", "h2"),
    "Hall": _of("room", "h", "h2"),
    "Person": _of("name", "Joe", "Sue"),
    "CRoom": _of("room", "326", "327"),
    "Office": [{"person": "Joe", "room": "220"}],
}
_JOE = _at("Joe", (1, "a", 1.0), (2, "h", 0.5), (2, "x", 0.5), (3, "c", 1.0))
_SUE = _at("Sue", (1, "a", 1.0), (2, "h", 0.5), (2, "x", 0.5), (3, "c", 1.0))


def _asked(
    id: str, place: str, text: str, setting: str, rows: dict[str, list[dict[str, object]]], *found: tuple[object, ...]
) -> PrintedText:
    names = [name for name in _TABLES if f"relation {name}(" in setting]
    return PrintedText(
        id,
        place,
        f"q() : {text}",
        ".lahar",
        setting=setting,
        rows=rows,
        tables={name: _TABLES[name] for name in names},
        found={"q": found},
        columns=("end", "probability"),
        by_definition=False,
    )


def _texts() -> Iterator[PrintedText]:
    yield _asked(
        "joe-coffee",
        "2.2, example 2.2",
        "At('Joe', '220'); (sigma[CRoom(l)] At('Joe', l)); At('Joe', '220')",
        f"{_AT} relation CRoom(room);",
        {"At": _at("Joe", (1, "220", 0.5), (2, "326", 0.5), (2, "327", 0.25), (3, "220", 1.0))},
        (3, 0.375),
    )
    yield _asked(
        "any-coffee",
        "2.2, example 2.2",
        "sigma[Person(p) AND Office(p, l1) AND CRoom(l3)](At(p, l1); At(p, l2)+<{p}, Hall(l2)>; At(p, l3))",
        f"{_AT} relation Person(name); relation Office(person, room); relation CRoom(room); relation Hall(room);",
        {"At": _at("Joe", (1, "220", 0.5), (2, "h", 1.0), (3, "h2", 0.5), (3, "326", 0.5), (4, "326", 1.0))},
        (3, 0.25),
        (4, 0.25),
    )
    yield _asked(
        "joe-hall",
        "3, example 3.2",
        "At('Joe', 'a'); At('Joe', l)+<{}, Hallway(l)>; At('Joe', 'c')",
        _AT + _HALLS,
        {"At": _JOE},
        (3, 0.5),
    )
    yield _asked(
        "hall",
        "3, example 3.6",
        "sigma[Person(x)](At(x, 'a'); At(x, l2)+<{x}, Hallway(l2)>; At(x, 'c'))",
        _AT + _HALLS,
        {"At": [*_JOE, *_SUE]},
        (3, 0.75),
    )
    yield _asked(
        "joe",
        "3.2, example 3.14",
        "sigma[Person('Joe')](At('Joe', 'a'); At('Joe', l2)+<{}, Hallway(l2)>; At('Joe', 'c'))",
        _AT + _HALLS,
        {"At": [*_JOE, *_SUE]},
        (3, 0.5),
    )
    yield PrintedText(
        "talk",
        "3, example 3.9",
        """
        q() : sigma[Person(x), Laptop(y), Office(z), LectureRoom(u)](
          Carries(x, y, z); (Carries(x, y, -))+<{x, y}, >; At(x, u))
        """,
        ".lahar",
        setting="""
        stream Carries(person, object | location) independent; stream At(person | location) independent;
        relation Person(name); relation Laptop(name); relation Office(room); relation LectureRoom(room);
        """,
        rows={
            "Carries": [
                {"person": "Joe", "object": "mac", "location": room, "t": time, "p": 0.5}
                for time, room in ((1, "o"), (2, "h"))
            ],
            "At": [{"person": "Joe", "location": "l", "t": 3, "p": 0.5}],
        },
        tables={
            "Person": _of("name", "Joe"),
            "Laptop": _of("name", "mac"),
            "Office": _of("room", "o"),
            "LectureRoom": _of("room", "l"),
        },
        found={"q": [(3, 0.125)]},
        columns=("end", "probability"),
        by_definition=False,
    )
    yield PrintedText(
        "successors",
        "3.1, example 3.11",
        "qf() : R('a'); R('b')  qs() : sigma[y = 'b'](R('a'); R(y))",
        ".lahar",
        setting="stream R(x) certain;",
        events="R(a)@1 R(c)@2 R(b)@3",
        found={"qf": [(1, 3)], "qs": []},
    )
    yield _asked(
        "plan",
        "3.3, figure 6",
        "R(x); S(x); T('a', y)",
        "stream R(x) independent; stream S(x) independent; stream T(x, y) independent;",
        {
            "R": [{"x": "k", "t": 1, "p": 0.5}],
            "S": [{"x": "k", "t": 2, "p": 0.5}],
            "T": [{"x": "a", "y": "z", "t": 3, "p": 0.5}, {"x": "b", "y": "z", "t": 3, "p": 0.5}],
        },
        (3, 0.125),
    )
    yield PrintedText(
        "hard-selection",
        "3.4, proposition 3.18",
        "h1() : sigma[theta(x, y)](R(x); S(y))",
        ".lahar",
        setting="stream R(x) independent; stream S(x) independent; relation theta(x, y);",
        rows={"R": [{"x": "a", "t": 1, "p": 0.5}], "S": [{"x": one, "t": 2, "p": 0.5} for one in "bc"]},
        tables={"theta": [{"x": "a", "y": "b"}]},
        found={"h1": [(2, 0.25)]},
        columns=("end", "probability"),
        by_definition=False,
    )
    yield PrintedText(
        "hard-repetition",
        "3.4, proposition 3.18",
        "h2() : R(); S(x)+<{x}, true>",
        ".lahar",
        setting="stream R() independent; stream S(x) independent;",
        rows={"R": [{"t": 1, "p": 0.5}], "S": [{"x": "b", "t": time, "p": 0.5} for time in (2, 3)]},
        # at 3: R, and b at 3, which is next to R or to b at 2
        found={"h2": [(2, 0.25), (3, 0.25)]},
        columns=("end", "probability"),
        by_definition=False,
    )
    pairs = [{"x": one, "t": 2, "p": 0.5} for one in "bc"]
    later = [{**row, "t": 3} for row in pairs]
    yield PrintedText(
        "hard-join",
        "3.4, proposition 3.19",
        "h3() : R(); S(x); T(x)",
        ".lahar",
        setting="stream R() independent; stream S(x) independent; stream T(x) independent;",
        rows={"R": [{"t": 1, "p": 0.5}], "S": pairs, "T": later},
        # R, and S and T with b or with c: 1/2 (1 - (3/4)^2)
        found={"h3": [(3, 0.21875)]},
        columns=("end", "probability"),
        by_definition=False,
    )
    yield PrintedText(
        "hard-gap",
        "3.4, proposition 3.19",
        "h4() : R(x); S(); T(x)",
        ".lahar",
        setting="stream R(x) independent; stream S() independent; stream T(x) independent;",
        rows={"R": [{**row, "t": 1} for row in pairs], "S": [{"t": 2, "p": 0.5}], "T": later},
        found={"h4": [(3, 0.21875)]},
        columns=("end", "probability"),
        by_definition=False,
        misprint="a comma stands between `R(x)` and `S()`",
    )
    yield PrintedText(
        "coffee-room",
        "4.2",
        "q() : sigma[NotRoom(l1), NotRoom(l2), CoffeeRoom(l3)](At(p, l1); At(p, l2); At(p, l3))",
        ".lahar",
        setting=f"{_AT} relation NotRoom(room); relation CoffeeRoom(room);",
        rows={"At": _at("Joe", (1, "h", 0.5), (2, "h2", 0.75), (3, "326", 0.5))},
        tables={"NotRoom": _of("room", "h", "h2"), "CoffeeRoom": _of("room", "326")},
        found={"q": [(3, 0.1875)]},
        columns=("end", "probability"),
        by_definition=False,
    )
    yield _asked(
        "safe",
        "4.3, figure 14",
        "At(p, l1); At(p, l2); At(q, l3)",
        _AT,
        {"At": [*_at("Joe", (1, "a", 0.5), (2, "b", 0.5)), *_at("Sue", (3, "c", 0.5))]},
        (3, 0.125),
    )


TEXTS = [*_texts()]
