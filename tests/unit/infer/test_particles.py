"""Particles come close to the exact filter, closer with more of them, and do not depend on who else is there."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from inkling.examples.building import corridor

from inkling import infer
from inkling.errors import InputError
from inkling.infer.model import Model

MODEL = Model.of(corridor.movement(), corridor.readers(), corridor.prior())
READINGS = corridor.walk(people=12, seconds=60, seed=2).readings


def as_matrix(rows: pa.Table) -> np.ndarray:
    """[person, second, place]"""
    out = np.zeros((12, 60, len(MODEL.states)))
    person = pc.cast(pc.utf8_slice_codeunits(rows["person"], 6), pa.int64()).to_numpy()
    place = pc.index_in(rows["state"], pa.array(MODEL.states)).to_numpy()
    out[person, rows["t"].to_numpy() - 1, place] = rows["p"].to_numpy()
    return out


EXACT = as_matrix(infer.filtered(READINGS, MODEL, key="person"))


def test_the_mean_square_error_is_below_one_in_n() -> None:
    errors = {}
    for n in (100, 1600):
        for seed in (1, 2, 3):
            found = as_matrix(infer.particles(READINGS, MODEL, n=n, seed=seed, key="person"))
            assert np.allclose(found.sum(axis=2), 1.0)
            errors[n, seed] = np.square(found - EXACT).mean(axis=(0, 1)).max()
            assert errors[n, seed] < 1 / n
    assert all(errors[1600, seed] < errors[100, seed] / 8 for seed in (1, 2, 3))


def test_a_key_has_the_same_particles_whoever_else_is_there() -> None:
    every = infer.particles(READINGS, MODEL, n=50, seed=4, key="person")
    one = infer.particles(READINGS.filter(pc.equal(READINGS["person"], "person007")), MODEL, n=50, seed=4, key="person")
    assert len(one) > 60
    assert every.filter(pc.equal(every["person"], "person007")).equals(one)
    assert not infer.particles(READINGS, MODEL, n=50, seed=5, key="person").equals(every)


def test_readings_that_no_particle_explains() -> None:
    movement = [{"previous": a, "state": a, "p": 1.0} for a in ("near", "far")]
    prior = [{"state": "near", "p": 1e-9}, {"state": "far", "p": 1 - 1e-9}]
    model = Model.of(movement, [{"reader": "r", "state": "near", "p": 0.5}], prior)
    rows = [{"key": "joe", "t": 1, "reader": "r"}]
    assert infer.filtered(rows, model)["state"].to_pylist() == ["near"]
    with pytest.raises(InputError, match="INK0666"):
        infer.particles(rows, model, n=10)
