"""Avro's binary encoding, as far as the tests need it, written from its specification and not from a library."""

import struct


def long(number: int) -> bytes:
    """Zigzag, seven bits a byte, least significant first."""
    rest = (number << 1) ^ (number >> 63)
    encoded = bytearray()
    while rest > 0x7F:
        encoded.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*encoded, rest])


def text(value: str) -> bytes:
    return long(len(value.encode())) + value.encode()


def double(value: float) -> bytes:
    return struct.pack("<d", value)


def null() -> bytes:
    """The first branch of a union with null."""
    return long(0)


def present(encoded: bytes) -> bytes:
    """The second branch of a union with null."""
    return long(1) + encoded


def header(schema_id: int) -> bytes:
    return b"\0" + struct.pack(">I", schema_id)
