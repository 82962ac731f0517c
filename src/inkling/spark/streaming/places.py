"""Hosts and ports of metrics; importing this does not load Spark."""


def place_of(text: str) -> tuple[str, int] | None:
    """Host and port of `:9464` or `HOST:9464`; None for another text, such as the name of a file.

    >>> place_of(":9464"), place_of("10.0.0.1:9464"), place_of("numbers.jsonl")
    (('', 9464), ('10.0.0.1', 9464), None)
    """
    host, colon, port = text.rpartition(":")
    is_port = bool(colon) and port.isdecimal() and 0 <= int(port) < 65536 and "/" not in host
    return (host, int(port)) if is_port else None
