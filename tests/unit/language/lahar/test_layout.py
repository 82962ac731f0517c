"""Queries are printed in one layout that reads back as the same queries."""

from inkling.language import format_program
from inkling.language.lahar import LAHAR

WRITTEN = """-- where people are
stream At(person|room)markov;stream Fire()certain; stream Seen( |camera:integer)independent;
-- rooms
relation Hall(room);
relation Office(person,room)from'offices.csv'; -- desks
-- in a hurry
late(x)ever:At(x,'a');(sigma[Hall(l)and not(l='b'or l='c')](At(x,l)))+<{x},(true)>;At(x,'c')
out():sigma[(l1!=l2)and Hall(l1)and Hall(l2)and Office(x,_)and Office(y,l2)](At(x,l1);At(y,l2);Fire());
-- the end
"""
PRINTED = """\
-- where people are
stream At(person | room) markov;
stream Fire() certain;
stream Seen(| camera:INTEGER) independent;

-- rooms
relation Hall(room);

-- desks
relation Office(person, room) from 'offices.csv';

-- in a hurry
late(x) ever :
  At(x, 'a') ; (sigma[Hall(l) and not (l = 'b' or l = 'c')](At(x, l)))+<{x}, true> ; At(x, 'c');

out() :
  sigma[l1 != l2 and Hall(l1) and Hall(l2) and Office(x, _) and Office(y, l2)](
    At(x, l1) ; At(y, l2) ; Fire()
  );

-- the end
"""


def test_layout() -> None:
    assert LAHAR.format(WRITTEN) == PRINTED


def test_printed_queries_are_printed_the_same() -> None:
    assert LAHAR.format(PRINTED) == PRINTED


def test_the_layout_says_the_same() -> None:
    assert LAHAR.parse(PRINTED) == LAHAR.parse(WRITTEN)


def test_comments_are_kept_in_the_program() -> None:
    printed = format_program(LAHAR.parse(WRITTEN))
    comments = [line for line in printed.splitlines() if line.startswith("--")]
    assert comments == ["-- where people are", "-- rooms", "-- desks", "-- in a hurry", "-- the end"]


def test_nothing() -> None:
    assert LAHAR.format("") == ""
    assert LAHAR.format("--a\n--b") == "-- a\n-- b\n"
