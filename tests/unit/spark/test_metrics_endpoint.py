"""What an operator can scrape: the numbers of micro-batches, summed, and whether the program is healthy."""

import json
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from urllib.error import HTTPError

import pytest
from prometheus_client.parser import text_string_to_metric_families
from typer.testing import CliRunner

from inkling.cli import app
from inkling.errors import InputError
from inkling.spark.streaming.metrics import StreamMetrics, serve
from inkling.spark.streaming.progress import BatchProgress, StateProgress, StreamProgress

FIRST = BatchProgress(
    batch=0,
    rows=10,
    total_rows=10,
    input_rows_per_second=1.0,
    processed_rows_per_second=1.0,
    seconds=0.4,
    state_rows=7,
    state_bytes=900,
    watermark=5_000_000,
    is_finished=False,
    behind_latest=2.0,
    behind_now=60.0,
    matches={"high": 3},
    late=1,
    rejects=3,
    pressure=0.5,
    rows_by_stream={"Reading": 8, "Door": 2},
    batch_results={"high": 3},
    batch_withdrawn={"high": 1},
    batch_late=1,
    late_by_stream={"Door": 1},
    batch_ahead=3,
    reasons=((("Reading", "bad value"), 2), (("Reading", "no time"), 1)),
    streams={"Reading": StreamProgress(newest=7_000_000, watermark=5_000_000, behind_now=60.0)},
    states=(StateProgress(("high", "low"), 6, 800, 5_000_000, 60.0), StateProgress((), 1, 100, None, None)),
)
SECOND = replace(
    FIRST,
    batch=1,
    rows_by_stream={"Reading": 5, "Door": 0},
    batch_results={"high": 4},
    states=(StateProgress(("high",), 8, 900, 6_000_000, 50.0), StateProgress(("low",), 1, 90, None, None)),
)


@pytest.fixture
def served() -> Iterator[tuple[StreamMetrics, str]]:
    metrics = StreamMetrics()
    port, end = serve(metrics, "127.0.0.1", 0)
    yield metrics, f"127.0.0.1:{port}"
    end()


def scraped(place: str) -> dict[tuple[str, ...], float]:
    with urllib.request.urlopen(f"http://{place}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sample.labels.values()): sample.value for sample in samples}


def test_numbers_add_up(served: tuple[StreamMetrics, str]) -> None:
    metrics, place = served
    for progress in (FIRST, SECOND):
        metrics.take(progress)
    found = scraped(place)
    expected = {
        ("inkling_rows_total", "Reading"): 13,
        ("inkling_rows_total", "Door"): 2,
        ("inkling_results_total", "high"): 7,
        ("inkling_withdrawn_total", "high"): 2,
        ("inkling_rejected_total", "bad value", "Reading"): 4,
        ("inkling_rejected_total", "no time", "Reading"): 2,
        ("inkling_late_total", "Door"): 2,
        ("inkling_ahead_total",): 6,
        ("inkling_batches_total",): 2,
        ("inkling_batch_seconds_count",): 2,
        ("inkling_batch_seconds_sum",): 0.8,
        ("inkling_watermark",): 5,
        ("inkling_watermark_behind_latest",): 2,
        ("inkling_lag_seconds",): 60,
        ("inkling_stream_newest", "Reading"): 7,
        ("inkling_stream_watermark", "Reading"): 5,
        ("inkling_stream_lag_seconds", "Reading"): 60,
        ("inkling_event_watermark", "high"): 6,
        ("inkling_event_lag_seconds", "high"): 50,
        ("inkling_state_rows", "high"): 8,
        ("inkling_state_rows", "low"): 1,
        ("inkling_state_bytes", "high"): 900,
        ("inkling_state_bytes", "low"): 90,
        ("inkling_pressure",): 0.5,
        ("inkling_up",): 1,
    }
    assert {key: found[key] for key in expected} == expected
    of_program = {key for key in found if key[0].startswith(("inkling_event", "inkling_state"))}
    assert of_program <= expected.keys()  # nothing of the program before


def test_health(served: tuple[StreamMetrics, str]) -> None:
    metrics, place = served
    asked = CliRunner().invoke(app, ["stream", "--health", place])
    assert (asked.exit_code, json.loads(asked.stdout)["healthy"]) == (0, True)
    metrics.stopped("no Kafka broker answers")
    with pytest.raises(HTTPError, match="503"):
        urllib.request.urlopen(f"http://{place}/health", timeout=10)
    asked = CliRunner().invoke(app, ["stream", "--health", place])
    assert (asked.exit_code, json.loads(asked.stdout)["reason"]) == (1, "no Kafka broker answers")
    assert scraped(place)["inkling_up",] == 0
    metrics.take(FIRST)
    assert CliRunner().invoke(app, ["stream", "--health", place]).exit_code == 0


def test_no_answer() -> None:
    asked = CliRunner().invoke(app, ["stream", "--health", "127.0.0.1:1"])
    assert (asked.exit_code, "no answer at 127.0.0.1:1" in asked.stderr) == (1, True)
    assert CliRunner().invoke(app, ["stream", "--health", "nowhere"]).exit_code == 2


def test_a_port_that_is_taken(served: tuple[StreamMetrics, str]) -> None:
    host, port = served[1].split(":")
    with pytest.raises(InputError, match=r"INK0582.*cannot be served"):
        serve(StreamMetrics(), host, int(port))
