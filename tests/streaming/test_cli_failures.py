"""What `inkling` does when parts of the machine fail under it: workers, the Java process, the disk."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.streaming.arriving import arrive

pytestmark = [pytest.mark.long, pytest.mark.spark]

STREAM = "STREAM Door(person STRING, room STRING, t INT) KEY person TIME t;"
SUM = """
import os, signal
from pathlib import Path
import inkling

@inkling.aggregate("fragile", returns="INTEGER")
def fragile(values):
    mark = Path({mark!r})
    if mark.exists():
        mark.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
    return int(values.sum())
"""
ROWS = "person,room,t\nada,lab,1\nada,hall,2\nada,lab,3\n"


def command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("inkling")), *words, "--master", "local[2]"]


def child_java(process: subprocess.Popen[str]) -> int:
    """The id of the Java process of a command."""
    listed = subprocess.run(["ps", "-eo", "pid,ppid,comm"], capture_output=True, text=True, check=True).stdout
    parents = {int(pid): (int(parent), name) for pid, parent, name in map(str.split, listed.splitlines()[1:]) if pid}
    for pid, (parent, name) in parents.items():
        while parent > 1 and parent != process.pid:
            parent = parents[parent][0]
        if name == "java" and parent == process.pid:
            return pid
    raise AssertionError("the command has no Java process")


def wait(until: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 240
    while not until():
        if process.poll() is not None:
            raise AssertionError(process.communicate() if process.stderr else "the command has ended")
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_a_run_goes_on_without_a_worker_that_died(tmp_path: Path) -> None:
    (tmp_path / "sum.py").write_text(SUM.format(mark=str(tmp_path / "mark")))
    (tmp_path / "mark").write_text("")
    (tmp_path / "Door.csv").write_text(ROWS)
    text = f"{STREAM} EVENT sum(fragile(w.t) AS n) AS PATTERN WINDOW Door w LAST 2 EVENTS PARTITION BY person;"
    (tmp_path / "sum.ink").write_text(text)
    words = command("run", "sum.ink", "-i", "Door=Door.csv", "-o", "-", "--python", "sum.py")
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=200, check=False)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r"INK0591: a Python worker of Spark died.*trying again in 1 s \(1 of 3\)", ran.stderr)
    assert sorted(json.loads(line)["n"] for line in ran.stdout.splitlines()) == [1, 3, 5]


def stream(folder: Path, *words: str) -> subprocess.Popen[str]:
    (folder / "back.ink").write_text(
        f"{STREAM} EVENT back AS PATTERN SEQ NEXT(Door a, Door b) PARTITION BY person WITHIN 9 TICKS;"
    )
    words = ("stream", "back.ink", "-i", "Door=in?format=csv", "-o", "out", "--buckets", "2", *words)
    return subprocess.Popen(command(*words), cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_java_process_that_is_killed(tmp_path: Path) -> None:
    arrive(tmp_path / "in", "1.csv", ROWS, 1)
    process = stream(tmp_path)
    wait(lambda: any((tmp_path / "out").glob("back/batch=*/*")), process)
    os.kill(child_java(process), signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 3, said
    assert "error[INK0593]: the Java process of Spark has ended" in said
    assert "bug" not in said
    again = stream(tmp_path, "--finish")
    _, said = again.communicate(timeout=200)
    assert again.returncode == 0, said


def test_numbers_health_and_logs_of_a_running_stream(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{probe.getsockname()[1]}"
    arrive(tmp_path / "in", "1.csv", ROWS + "bob,hall,noon\n", 1)
    process = stream(tmp_path, "--metrics", place, "--log", "json")

    def scraped() -> str:
        try:
            with urllib.request.urlopen(f"http://{place}/metrics", timeout=10) as answer:
                return str(answer.read().decode())
        except OSError:
            return ""

    wait(lambda: 'inkling_rows_total{stream="Door"} 4.0' in scraped(), process)
    wait(lambda: 'inkling_rejected_total{reason="bad time",stream="Door"} 1.0' in scraped(), process)
    arrive(tmp_path / "in", "2.csv", "person,room,t\nada,lab,9\n", 2)
    wait(lambda: 'inkling_rows_total{stream="Door"} 5.0' in scraped(), process)
    arrive(tmp_path / "in", "3.csv", "person,room,t\nada,lab,2\n", 3)
    wait(lambda: 'inkling_late_total{stream="Door"} 1.0' in scraped(), process)
    health = [str(Path(sys.executable).with_name("inkling")), "stream", "--health", place]
    assert subprocess.run(health, capture_output=True, check=False).returncode == 0
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    lines = [json.loads(line) for line in said.splitlines()]
    batch, *_ = [line for line in lines if line["about"] == "batch" and line["rows"]]
    assert (batch["rows"], batch["reasons"]) == (4, [{"stream": "Door", "reason": "bad time", "n": 1}])
    assert {"time", "level", "about"} <= set.intersection(*map(set, lines))
    assert subprocess.run(health, capture_output=True, check=False).returncode == 1


def test_ctrl_c_while_a_stream_starts_and_while_a_worker_joins(tmp_path: Path) -> None:
    (tmp_path / "busy.ink").write_text(
        "STREAM A(k INT, t INT) TIME t; EVENT rare AS PATTERN SEQ(A a, A b[k > a.k + 1000000000]);"
    )
    arrive(tmp_path / "in", "1.csv", "k,t\n" + "".join(f"{t},{t}\n" for t in range(400_000)), 1)
    words = command("stream", "busy.ink", "-i", "A=in?format=csv", "-o", "out", "--unbounded", "--buckets", "1")
    for begun, status in (("inkling", "interrupted\n"), ("spark/offsets/0", "the same command resumes from here")):
        with (tmp_path / "said").open("w") as said:
            process = subprocess.Popen(words, cwd=tmp_path, stderr=said)
        wait((tmp_path / "out" / "_checkpoint" / begun).exists, process)
        time.sleep(0 if begun == "inkling" else 5)  # until the worker joins
        process.send_signal(signal.SIGINT)
        time.sleep(3)  # a second, and two more for a machine that does other things
        answer = (tmp_path / "said").read_text()
        assert process.poll() is not None or "Ctrl-C again ends it at once" in answer
        assert process.wait(60) == 130
        assert status in (tmp_path / "said").read_text()
        assert "Traceback" not in answer
