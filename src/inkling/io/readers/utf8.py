"""Text as UTF-8. A byte that is not is never replaced: two keys would become one, and a row would say what none wrote.

A record with such bytes is malformed, and is shown with escapes such as `\\xe9` in their place. A file that starts in
another encoding cannot be read at all.
"""

import re
from collections.abc import Iterable, Mapping

import pyarrow as pa

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MARKS_OF_OTHERS = {b"\xff\xfe\0\0": "UTF-32", b"\0\0\xfe\xff": "UTF-32", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
_ESCAPED = re.compile("[\udc80-\udcff]")  # a byte that is not UTF-8, as `surrogateescape` decodes it
_BYTES = range(0x80, 0x100)


class EncodingError(ValueError):
    """A file in another encoding than UTF-8; `likely` is its name, or a guess."""

    def __init__(self, message: str, likely: str) -> None:
        super().__init__(message)
        self.likely = likely

    @property
    def help(self) -> str:
        return f"name the encoding, as in `PATH?encoding={self.likely.lower()}`, or convert the file to UTF-8"


class OtherEncodingError(ValueError):
    """A file that is not of the encoding that its address names."""


def reject_other_encodings(start: bytes) -> None:
    """Fails where the first line of a file shows that its text is UTF-16 or UTF-32."""
    for mark, encoding in _MARKS_OF_OTHERS.items():
        if start.startswith(mark):
            raise EncodingError(f"the file is {encoding}, not UTF-8", encoding)
    if b"\0" in start:
        raise EncodingError("the file has zero bytes, as text in UTF-16 has", "UTF-16")


def recoded(data: pa.Buffer, encoding: str | None) -> pa.Buffer:
    """Text of an encoding as UTF-8; bytes that it does not have stay, so that only their records are malformed."""
    if encoding is None:
        return data
    try:
        text = data.to_pybytes().decode(encoding, errors="surrogateescape")
        return pa.py_buffer(text.encode(errors="surrogateescape"))
    except UnicodeError as problem:
        raise OtherEncodingError(f"the file is not {encoding}: {problem}") from None


def require_utf8(header: bytes) -> None:
    reject_other_encodings(header)
    found = _ESCAPED.search(texts([header])[0])
    if found is not None:
        raise EncodingError(f"its header is not UTF-8: byte {_byte(found)}", "latin-1")


def texts(parts: Iterable[bytes]) -> list[str]:
    """Decoded text; a byte that is not UTF-8 becomes half of a character, which no UTF-8 contains."""
    return [part.decode(errors="surrogateescape") for part in parts]


def fault_in(text: str, values: Mapping[str, object]) -> str | None:
    """The fault of a record with a byte that is not UTF-8, or None; `values` are those of its columns."""
    found = _ESCAPED.search(text)
    if found is None:
        return None
    for name, value in values.items():
        within = _ESCAPED.search(str(value))
        if within is not None:
            return f"not UTF-8: byte {_byte(within)} in `{shown(name)}`"
    return f"not UTF-8: byte {_byte(found)}"


def shown(text: str) -> str:
    r"""Text as valid UTF-8, with `\xe9` for a byte that is not."""
    return _ESCAPED.sub(lambda found: f"\\x{ord(found[0]) - 0xDC00:02x}", text)


def is_utf8(data: pa.Buffer) -> bool:
    offsets = pa.py_buffer(pa.array([0, data.size], pa.int64()).buffers()[1])
    whole = pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, data])
    try:
        whole.cast(pa.large_string())
    except pa.ArrowInvalid:
        return False
    return True


class StandIns:
    """Characters for the bytes of a text that are not UTF-8, while Arrow, which wants UTF-8, divides it into fields.

    They are of a block for private use of which the text has no character.
    """

    def __init__(self, data: pa.Buffer) -> None:
        self._text = data.to_pybytes().decode(errors="surrogateescape")
        blocks = {ord(one) // 0x80 for one in set(self._text)}
        first = 0x80 * next(block for block in range(0x10FF80 // 0x80, 0, -1) if block not in blocks)
        self._to = {0xDC00 + byte: first + byte - 0x80 for byte in _BYTES}
        self._back = {character: escaped for escaped, character in self._to.items()}
        self.pattern = f"[{chr(first)}-{chr(first + 0x7F)}]"

    def written(self) -> pa.Buffer:
        return pa.py_buffer(self._text.translate(self._to).encode())

    def decoded(self, text: str) -> str:
        """Text as `texts` decodes it."""
        return text.translate(self._back)


def _byte(found: re.Match[str]) -> str:
    return f"0x{ord(found[0]) - 0xDC00:02x}"
