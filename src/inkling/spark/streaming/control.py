"""What the driver says to a running query, as files that are one more source of it: so a replay hears it again."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from pyspark.sql import DataFrame

from inkling.model.watermarks import Marks
from inkling.spark.streaming.messages import marks_payload
from inkling.spark.streaming.storage import Folder

_SPEAKING = threading.Lock()  # whoever speaks takes the next number


@dataclass(frozen=True, slots=True)
class Control:
    """A folder inside the checkpoint; files in it are read once, in the order of their names."""

    folder: Folder

    @classmethod
    def inside(cls, checkpoint: Folder) -> Control:
        folder = checkpoint.inside("control")
        folder.make()
        return cls(folder)

    def say(self, marks: Marks) -> None:
        with _SPEAKING:
            self.folder.write(f"{len(self.folder.names()):09d}.json", marks_payload(marks) + b"\n")

    def read_stream(self) -> DataFrame:
        return self.folder.spark.readStream.schema("value string").text(self.folder.path)
