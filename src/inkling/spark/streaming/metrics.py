"""The progress of a running program for operators: metrics for Prometheus, and whether the program is healthy."""

import json
import threading
import time
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, make_wsgi_app

from inkling.errors import InputError
from inkling.spark.streaming.progress import BatchProgress, StateProgress

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900)
"""The bounds of the buckets of batch times."""


class StreamMetrics:
    """The metrics of one running program, from the progress of its micro-batches."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._stopped: str | None = None
        self._last = time.time()

        def counter(name: str, text: str, *labels: str) -> Counter:
            return Counter(f"inkling_{name}", text, labels, registry=self.registry)

        def gauge(name: str, text: str, *labels: str) -> Gauge:
            return Gauge(f"inkling_{name}", text, labels, registry=self.registry)

        self._rows = counter("rows", "Rows read, rejected rows included.", "stream")
        self._results = counter("results", "Results emitted.", "event")
        self._withdrawn = counter("withdrawn", "Results withdrawn.", "event")
        self._rejected = counter("rejected", "Rejected rows.", "stream", "reason")
        self._late = counter("late", "Rows that were too late.", "stream")
        self._ahead = counter("ahead", "Rejected rows that were too far ahead.")
        self._batches = counter("batches", "Micro-batches delivered.")
        self._seconds = Histogram(
            "inkling_batch_seconds", "Time of a micro-batch.", registry=self.registry, buckets=SECONDS
        )
        self._watermark = gauge("watermark", "Watermark: seconds since 1970, or ticks.")
        self._behind_latest = gauge("watermark_behind_latest", "Watermark to latest row, in seconds or ticks.")
        self._lag = gauge("lag_seconds", "From the watermark to now; none for ticks.")
        self._stream_newest = gauge("stream_newest", "Time of the latest row: seconds since 1970, or ticks.", "stream")
        self._stream_watermark = gauge("stream_watermark", "Time up to which no further row is expected.", "stream")
        self._stream_lag = gauge("stream_lag_seconds", "From the watermark of the stream to now.", "stream")
        self._event_watermark = gauge("event_watermark", "Time up to which all results were emitted.", "event")
        self._event_lag = gauge("event_lag_seconds", "From the watermark of the event to now.", "event")
        self._state_rows = gauge("state_rows", "Rows in the state, by the events that share it.", "events")
        self._state_bytes = gauge("state_bytes", "Size of the state, by the events that share it.", "events")
        self._pressure = gauge("pressure", "Share of recent micro-batches that took longer than the trigger.")
        self._up = gauge("up", "1 while the program runs.")
        self._up.set(1)

    def take(self, progress: BatchProgress, *, has_timestamps: bool = True) -> None:
        """Add the numbers of a micro-batch."""
        self._last = time.time()
        self._stopped = None
        self._up.set(1)
        for stream, n in progress.rows_by_stream.items():
            self._rows.labels(stream).inc(n)
        for event, n in progress.batch_results.items():
            self._results.labels(event).inc(n)
        for event, n in progress.batch_withdrawn.items():
            self._withdrawn.labels(event).inc(n)
        for (stream, reason), n in progress.reasons:
            self._rejected.labels(stream, reason).inc(n)
        for stream, n in progress.late_by_stream.items():
            self._late.labels(stream).inc(n)
        self._ahead.inc(progress.batch_ahead)
        self._batches.inc()
        self._seconds.observe(progress.seconds)
        scale = 1e6 if has_timestamps else 1
        if progress.watermark is not None:
            self._watermark.set(progress.watermark / scale)
        if progress.behind_latest is not None:
            self._behind_latest.set(progress.behind_latest)
        if progress.behind_now is not None:
            self._lag.set(progress.behind_now)
        for name, reached in progress.streams.items():
            self._stream_newest.labels(name).set(reached.newest / scale)
            self._stream_watermark.labels(name).set(reached.watermark / scale)
            if reached.behind_now is not None:
                self._stream_lag.labels(name).set(reached.behind_now)
        self._take_states(progress.states, scale)
        self._pressure.set(progress.pressure)

    def _take_states(self, states: Iterable[StateProgress], scale: float) -> None:
        for gauge in (self._event_watermark, self._event_lag, self._state_rows, self._state_bytes):
            gauge.clear()  # a program that replaces another one may have other events
        for state in states:
            names = ", ".join(state.events)
            self._state_rows.labels(names).inc(state.rows)
            self._state_bytes.labels(names).inc(state.bytes)
            for event in state.events:
                if state.watermark is not None:
                    self._event_watermark.labels(event).set(state.watermark / scale)
                if state.behind_now is not None:
                    self._event_lag.labels(event).set(state.behind_now)

    def stopped(self, reason: str) -> None:
        """The program does not run at the moment."""
        self._stopped = reason
        self._up.set(0)

    def health(self) -> dict[str, Any]:
        """Whether the program runs, and the seconds since its last micro-batch."""
        return {
            "healthy": self._stopped is None,
            "reason": self._stopped,
            "seconds_since_last_batch": round(time.time() - self._last, 1),
        }


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""


def serve(metrics: StreamMetrics, host: str, port: int) -> tuple[int, Callable[[], None]]:
    """Serve `/metrics` and `/health` in a thread; returns the port and a function that ends it."""
    numbers = make_wsgi_app(metrics.registry)

    def application(environ: "WSGIEnvironment", start: "StartResponse") -> Iterable[bytes]:
        if environ["PATH_INFO"] != "/health":
            return list(numbers(environ, start))
        health = metrics.health()
        start("200 OK" if health["healthy"] else "503 Service Unavailable", [("Content-Type", "application/json")])
        return [json.dumps(health).encode()]

    try:
        server = make_server(host, port, application, _Server, _Silent)
    except OSError as problem:
        raise InputError.of(
            "INK0582",
            f"metrics cannot be served at `{host}:{port}`",
            notes=(problem.strerror or str(problem),),
            helps=("choose another port, such as `--metrics :9465`",),
        ) from None
    thread = threading.Thread(target=server.serve_forever, name="inkling-metrics", daemon=True)
    thread.start()

    def end() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return server.server_port, end
