"""Compressed files: gzip, bzip2, xz and Zstandard, by the last suffix of their names."""

import bz2
import gzip
import io
import lzma
import zlib
from pathlib import PurePath
from typing import IO, BinaryIO, cast

import pyarrow as pa

SUFFIXES = (".gz", ".bz2", ".xz", ".zst")

SPLIT_BY_SPARK = ("", ".gz", ".bz2")
"""Suffixes of text that Spark reads as lines, which for others needs native libraries."""

FAULTS = (EOFError, zlib.error, lzma.LZMAError)
"""What a damaged file raises, apart from `OSError` and errors of Arrow."""


def compression_of(name: str | PurePath) -> str:
    """The suffix that shows how a file is compressed, or nothing.

    >>> compression_of("Door.csv.GZ"), compression_of("Door.csv")
    ('.gz', '')
    """
    suffix = PurePath(name).suffix.lower()
    return suffix if suffix in SUFFIXES else ""


def decompressed(name: str | PurePath, data: pa.Buffer) -> pa.Buffer:
    """The contents of a file without compression."""
    if not compression_of(name):
        return data
    with stream_of(name, cast(BinaryIO, pa.BufferReader(data))) as stream:
        return pa.py_buffer(stream.read())


def stream_of(name: str | PurePath, file: BinaryIO) -> IO[bytes]:
    """A file as a stream of its contents without compression."""
    match compression_of(name):
        case ".gz":
            return cast(IO[bytes], gzip.GzipFile(fileobj=file))
        case ".bz2":
            return bz2.BZ2File(file)
        case ".xz":
            return lzma.LZMAFile(file)
        case ".zst":
            return cast(IO[bytes], io.BufferedReader(pa.CompressedInputStream(file, "zstd")))
        case _:
            return file
