"""Which topics a checkpoint was made from: offsets of one topic mean nothing in another of the same name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from inkling.spark.kafka.connector import no_topic, topic_ids
from inkling.spark.streaming.checkpoint.storage import Folder
from inkling.spark.streaming.failures import StreamError
from inkling.spark.streaming.sources.inputs import Source

_FILE = "topics.json"


@dataclass(frozen=True, slots=True)
class KnownTopics:
    """The ids of topics, kept beside the offsets that were read from them."""

    folder: Folder

    def require_same(self, sources: Mapping[str, Source], *, is_new: bool) -> None:
        """Rejects topics that were created again after the checkpoint; a new checkpoint records the topics."""
        ids: dict[str, str] = {}
        for stream, source in sources.items():
            if source.kafka is not None:
                found = topic_ids(self.folder.spark, source.kafka)
                missing = [name for name in source.kafka["subscribe"].split(",") if name.strip() not in found]
                if missing:
                    raise StreamError(no_topic(missing[0].strip(), stream))
                ids |= found
        if not ids:
            return
        known = {} if is_new else self._known()
        for topic, identity in ids.items():
            if known.get(topic, identity) != identity:
                raise _made_again(topic, self.folder.path)
        if known.keys() != ids.keys():
            self.folder.write(_FILE, json.dumps(known | ids, indent=1).encode())

    def _known(self) -> dict[str, str]:
        data = self.folder.read(_FILE)
        return {} if data is None else dict(json.loads(data))


def _made_again(topic: str, folder: str) -> StreamError:
    return StreamError.of(
        "INK0612",
        f"the topic `{topic}` was deleted and created again since the checkpoint read it",
        notes=(
            f"`{folder}` belongs to the topic that is gone; messages of the new one would be passed over",
            "what the old one held after the last finished micro-batch is lost with it",
        ),
        helps=("start with a new checkpoint and a new output",),
    )
