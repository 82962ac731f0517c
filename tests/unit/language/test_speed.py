"""Long programs parse in a blink: time grows with the length of the text, not with its square."""

from time import process_time

import pytest

from inkling.language import format_program, parse

pytestmark = pytest.mark.slow


def seconds_to_parse(text: str) -> float:
    start = process_time()
    parse(text)
    return process_time() - start


def sequence(n_steps: int) -> str:
    steps = ", ".join(f"A a{n}[x > {n} AND y = 'b']" for n in range(n_steps))
    return f"EVENT e AS PATTERN SEQ({steps}) WITHIN 5 MINUTES;"


def test_pattern_of_200_steps() -> None:
    seconds_to_parse(sequence(1))
    assert seconds_to_parse(sequence(200)) < 1


def test_program_of_500_statements() -> None:
    one = "EVENT e(a, b) AS PATTERN SEQ NEXT(A a[x > 1], B b+) WHERE a.x = b.x WITHIN 30 MINUTES PER END;\n"
    assert seconds_to_parse(one * 500) < 5


@pytest.mark.long
def test_time_is_linear_in_the_number_of_steps() -> None:
    short = min(seconds_to_parse(sequence(200)) for _ in range(3))
    long = min(seconds_to_parse(sequence(1600)) for _ in range(3))
    assert long < 8 * 4 * short


def test_format_of_200_steps() -> None:
    program = parse(sequence(200))
    start = process_time()
    format_program(program)
    assert process_time() - start < 1
