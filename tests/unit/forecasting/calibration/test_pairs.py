"""Results meet the truth: by a column of their own, or joined by what identifies them."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from inkling import InputError
from inkling.forecasting.calibration import calibrate
from inkling.forecasting.calibration.pairs import joined

RESULTS = [
    {"key": "a", "end": 1, "probability": 0.9, "error": 0.0},
    {"key": "a", "end": 2, "probability": 0.2, "error": 0.01},
    {"key": "b", "end": 1, "probability": 0.5, "error": 0.02},
]
TRUTH = [{"key": "a", "end": 1}, {"key": "c", "end": 7}, {"key": "a", "end": 1}]


def test_partners_happened_and_the_missed_had_no_chance() -> None:
    pairs = joined(RESULTS, TRUTH, ["key", "end"])
    assert pairs.prob.tolist() == [0.9, 0.2, 0.5, 0.0]
    assert pairs.n_happened.tolist() == [1, 0, 0, 1]
    assert pairs.error.tolist() == [0.0, 0.01, 0.02, 0.02]
    assert pairs.n_missed == 1


def test_candidates_without_a_result_count_as_well() -> None:
    candidates = [{"key": "a", "end": 1}, {"key": "d", "end": 3}, {"key": "c", "end": 7}]
    pairs = joined(RESULTS, TRUTH, ["key", "end"], candidates)
    assert sorted(zip(pairs.prob.tolist()[3:], pairs.n_happened.tolist()[3:], strict=True)) == [(0, 0), (0, 1)]
    assert pairs.n_missed == 1
    assert calibrate(RESULTS, TRUTH, on=["key", "end"], among=candidates).base_rate == 2 / 5


def test_any_kind_of_table(tmp_path: Path) -> None:
    table = pa.Table.from_pylist(RESULTS)
    pyarrow.parquet.write_table(table, tmp_path / "results.parquet")
    (tmp_path / "truth.csv").write_text("end,key\n1,a\n7,c\n")
    expected = calibrate(RESULTS, TRUTH, on=["key", "end"])
    frames = [table, pd.DataFrame(RESULTS), tmp_path / "results.parquet", str(tmp_path / "results.parquet")]
    for results in frames:
        assert calibrate(results, tmp_path / "truth.csv", on=["key", "end"]) == expected
    (tmp_path / "labeled.csv").write_text("probability,happened\n0.8,true\n0.2,false\n")
    assert calibrate(tmp_path / "labeled.csv", "happened").brier_score == pytest.approx(0.04)


def test_no_results_are_all_missed() -> None:
    nothing = pa.Table.from_pylist(RESULTS).slice(0, 0)
    found = calibrate(nothing, TRUTH, on=["key", "end"])
    assert (found.n, found.n_missed, found.brier_score) == (2, 2, 1.0)
    assert not found.lies_on_diagonal()


@pytest.mark.parametrize(
    ("results", "truth", "on", "message"),
    [
        (RESULTS, TRUTH, ["kee"], "the results have no column `kee`"),
        (RESULTS, [{"end": 1}], ["key"], "the truth has no column `key`"),
        (RESULTS, "hapened", None, "the results have no column `hapened`"),
        (RESULTS, TRUTH, None, "there is no column to join results and truth on"),
        (RESULTS, TRUTH, [], "there is no column to join results and truth on"),
        (RESULTS, TRUTH, ["key"], "several results have key a"),
        ([{"key": "a"}], TRUTH, ["key"], "the results have no column `probability`"),
        ([{"key": "a", "probability": 1.2}], TRUTH, ["key"], r"a probability lies in \[0, 1\], found 1.2"),
        ([{"key": "a", "probability": None}], TRUTH, ["key"], "`probability` of the results is missing in 1 of 1 rows"),
        ([{"key": "a", "probability": "high"}], TRUTH, ["key"], "has the type string, expected numbers"),
        ([{"key": "a", "probability": 0.5, "error": -0.1}], TRUTH, ["key"], "an error is not negative, found -0.1"),
        ([{"probability": 0.5, "happened": None}], "happened", None, "`happened` of the results is missing in 1 of 1"),
        ([{"probability": 0.5, "happened": "maybe"}], "happened", None, "expected true or false"),
        ([{"key": [1], "probability": 0.5}], [{"key": [1]}], ["key"], "`key` holds lists"),
    ],
)
def test_what_cannot_be_compared_is_rejected(
    results: object, truth: object, on: list[str] | None, message: str
) -> None:
    with pytest.raises(InputError, match=message) as caught:
        calibrate(results, truth, on=on)
    assert {one.code for one in caught.value.diagnostics} == {"INK0558"}
