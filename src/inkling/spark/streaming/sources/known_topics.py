"""The topics of a checkpoint: its offsets are invalid for another topic of the same name."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from inkling.spark.kafka.connector import no_topic, topic_ids
from inkling.spark.streaming.checkpoint.storage import CheckpointFolder
from inkling.spark.streaming.failures import StreamError
from inkling.spark.streaming.sources.inputs import StreamSource
from inkling.stored import Stored

_FILE = "topics.json"


@dataclass(frozen=True, slots=True)
class KnownTopics:
    """The ids of topics, stored beside the checkpoint."""

    folder: CheckpointFolder

    def require_same(self, sources: Mapping[str, StreamSource], *, is_new: bool) -> None:
        """Raise an error for topics that were created again after the checkpoint; a new checkpoint records them."""
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
            self.folder.put(_FILE, json.dumps(known | ids, indent=1).encode(), Stored.TOPICS)

    def _known(self) -> dict[str, str]:
        data = self.folder.get(_FILE, Stored.TOPICS)
        return {} if data is None else dict(json.loads(data))


def _made_again(topic: str, folder: str) -> StreamError:
    return StreamError.of(
        "INK0612",
        f"the topic `{topic}` was deleted and created again since the checkpoint read it",
        notes=(
            f"`{folder}` belongs to the deleted topic; messages of the new one would be skipped",
            "messages of the old topic after the last finished micro-batch are lost",
        ),
        helps=("start with a new checkpoint and a new output",),
    )
