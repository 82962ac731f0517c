"""A filter that is pushed readings says what one pass over all of them says, wherever it is cut or restored."""

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from inkling.examples.building import corridor

from inkling import infer
from inkling.errors import InputError
from inkling.infer.model import Model

MODEL = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
EVERYTHING = corridor.walk(people=9, seconds=40, seed=3).readings
READINGS = EVERYTHING.filter(pc.is_valid(EVERYTHING["reader"]))


def in_order(rows: pa.Table) -> pa.Table:
    return rows.sort_by([("person", "ascending"), ("t", "ascending"), ("state", "ascending")])


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("prune", [0.0, 0.02])
def test_pushing_pieces_is_the_whole(seed: int, prune: float) -> None:
    whole = infer.filtered(READINGS, MODEL, key="person", stop=40, prune=prune)
    random = np.random.default_rng(seed)
    borders = [0, *np.sort(random.choice(np.arange(1, 40), 6, replace=False)).tolist(), 40]
    live, found = infer.Filter(MODEL, key="person", prune=prune), []
    for begin, end in pairwise(borders):
        if random.random() < 0.5:
            saved, live = live.save(), infer.Filter(MODEL, key="person", prune=prune)
            live.restore(saved)
        piece = READINGS.filter(pc.and_(pc.greater(READINGS["t"], begin), pc.less_equal(READINGS["t"], end)))
        found.append(live.push(piece, until=end))
    pushed = in_order(pa.concat_tables([part for part in found if part.num_columns]))
    expected = in_order(whole)
    assert pushed.select(["person", "t", "state", "p"]).equals(expected.select(["person", "t", "state", "p"]))
    if prune:
        last = pushed.filter(pc.equal(pushed["t"], 40))
        assert np.allclose(last["left_out"], expected.filter(pc.equal(expected["t"], 40))["left_out"], atol=1e-12)


def test_with_a_start_all_keys_begin_there() -> None:
    live = infer.Filter(MODEL, key="person", start=1)
    early = READINGS.filter(pc.less_equal(READINGS["t"], 3))
    found = pa.concat_tables([live.push(early, until=3), live.push(READINGS.filter(pc.greater(READINGS["t"], 3)))])
    last = pc.max(READINGS["t"]).as_py()
    assert in_order(found).equals(in_order(infer.filtered(READINGS, MODEL, key="person", start=1, stop=last)))


def test_readings_before_the_start_do_not_count() -> None:
    live = infer.Filter(MODEL, key="person", start=10)
    late = READINGS.filter(pc.greater_equal(READINGS["t"], 10))
    found = [live.push(READINGS.filter(pc.less(READINGS["t"], 10)), until=9), live.push(late, until=40)]
    assert len(found[0]) == 0
    assert in_order(found[1]).equals(in_order(infer.filtered(late, MODEL, key="person", start=10, stop=40)))


def test_a_step_is_done_once() -> None:
    live = infer.Filter(MODEL, key="person")
    live.push(READINGS.filter(pc.less_equal(READINGS["t"], 5)), until=5)
    assert len(live.push([], until=4)) == 0
    with pytest.raises(InputError, match="INK0667"):
        live.push([{"person": "person001", "t": 5, "reader": "A1"}])
    with pytest.raises(InputError, match="INK0667"):
        live.push([{"person": "person001", "t": 9, "reader": "A1"}], until=8)


def test_what_was_saved_belongs_to_its_model() -> None:
    live = infer.Filter(MODEL, key="person")
    live.push(READINGS)
    saved = live.save()
    same = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
    infer.Filter(same, key="person").restore(saved)
    another = Model.of(corridor.movement(), corridor.readers(), [{"state": "R1", "p": 1.0}])
    for wrong in (infer.Filter(another, key="person"), infer.Filter(MODEL, key="person", prune=0.1)):
        with pytest.raises(InputError, match="INK0668"):
            wrong.restore(saved)
    with pytest.raises(InputError, match="INK0566"):
        live.restore(saved[:100])
