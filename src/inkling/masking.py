"""Passwords and other secrets are replaced by `…` wherever text is shown, logged or stored."""

import re
from functools import cache
from urllib.parse import unquote

MASK = "…"
SHORTEST = 4
"""Shorter secrets are not searched for in other texts: they would occur by chance."""
LONG = 12
"""Secrets that are shorter are searched for as whole words: `mine` is not masked in `determines`."""

_SECRET = r"[\w.-]*(?:password|passwd|secret|token|credential|jaas|access\.key|keystore\.key)[\w.-]*"
_ELSEWHERE = r"(?!(?:env|file):)"  # the value is in the environment or in a file
_LOGIN = re.compile(r"(?<=://)([^\s:/@?`]*):([^\s`]*)@")
_JAAS = re.compile(rf"(?<=[?&])([\w.-]*jaas[\w.-]*=){_ELSEWHERE}([^;&`]*;?)", re.IGNORECASE)
_OPTION = re.compile(rf"(?<=[?&])({_SECRET}=){_ELSEWHERE}((?:(?!&[\w.]+=)[^\s`])*)", re.IGNORECASE)
_QUOTED = re.compile(r"(\bpassword=[\"'])([^\"']*)(?=[\"'])", re.IGNORECASE)
_OF_ADDRESS = (
    (re.compile(r"(?<=://)([^:/@?]*):(.*)@", re.DOTALL), r"\1:…@"),  # up to the last @, which a password may contain
    (re.compile(rf"(?<=[?&])({_SECRET}=){_ELSEWHERE}(?:(?!&[\w.]+=).)*", re.DOTALL | re.IGNORECASE), r"\1…"),
)

_known: set[str] = set()  # the secrets of all addresses that this process has read


def is_secret(option: str) -> bool:
    """Whether the option of this name holds a secret.

    >>> is_secret("kafka.sasl.jaas.config"), is_secret("kafka.group.id")
    (True, False)
    """
    return re.fullmatch(_SECRET, option, re.IGNORECASE) is not None


def remember(secret: str) -> None:
    """Mask this text from now on, even where nothing else shows that it is a secret."""
    inner = [found[2] for found in _QUOTED.finditer(secret)]
    _known.update(one for one in (secret, unquote(secret), *inner) if len(one) >= SHORTEST)


def without_secrets(address: str) -> str:
    """An address without secrets; those that are read from elsewhere are named.

    >>> without_secrets("postgresql://ada:secret@db:5432/found?schema=x&password=secret")
    'postgresql://ada:…@db:5432/found?schema=x&password=…'
    >>> without_secrets("kafka://db:9092/found?kafka.sasl.jaas.config=env:JAAS")
    'kafka://db:9092/found?kafka.sasl.jaas.config=env:JAAS'
    """
    for pattern, replacement in _OF_ADDRESS:
        address = pattern.sub(replacement, address)
    return address


def masked(text: str) -> str:
    """A text without the secrets of addresses in it, and without those of all addresses read so far.

    >>> masked("no answer from s3a://key:secret@bucket/rows, asked twice")
    'no answer from s3a://key:…@bucket/rows, asked twice'
    """
    text = _LOGIN.sub(r"\1:…@", text)
    text = _QUOTED.sub(r"\1…", _OPTION.sub(r"\1…", _JAAS.sub(r"\1…", text)))
    for secret in sorted(_known, key=len, reverse=True):
        text = _occurrences(secret).sub(MASK, text)
    return text


def crossed_out(line: str) -> str:
    """A line with a `…` for each character of a secret, so that the rest keeps its place."""
    for pattern, after in ((_LOGIN, "@"), (_JAAS, ""), (_OPTION, ""), (_QUOTED, "")):
        line = pattern.sub(lambda found, after=after: found[1] + _rest(found, after), line)  # type: ignore[misc]
    for secret in sorted(_known, key=len, reverse=True):
        line = _occurrences(secret).sub(MASK * len(secret), line)
    return line


@cache
def _occurrences(secret: str) -> re.Pattern[str]:
    """Where a secret occurs in a text."""
    pattern = re.escape(secret)
    if len(secret) >= LONG:
        return re.compile(pattern)
    before, after = (r"\b" if re.match(r"\w", end) else "" for end in (secret[0], secret[-1]))
    return re.compile(f"{before}{pattern}{after}")


def _rest(found: re.Match[str], after: str) -> str:
    return f":{MASK * len(found[2])}{after}" if after else MASK * len(found[2])
