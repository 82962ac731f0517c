"""Control messages, which change the settings of running forecasts, and reasons for rejecting them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from inkling.errors import InklingError, InputError
from inkling.logical.settings import PARAMETERS, SettingError, Settings, as_number

FIELDS = ("forecast", "parameter", "value")


@dataclass(frozen=True, slots=True)
class Rejected:
    message: Mapping[str, object]
    reason: str

    def __str__(self) -> str:
        text = ", ".join(f"{name} = {value}" for name, value in self.message.items())
        return f"the control message ({text}) was rejected: {self.reason}"


def steered(
    settings: Settings, messages: Iterable[Mapping[str, object]], check: Callable[[Settings], None]
) -> tuple[Settings, list[Rejected]]:
    """Settings after some messages, and the rejected messages; `check` raises for invalid settings."""
    rejected = []
    for message in messages:
        try:
            changed = _after(settings, message)
            check(changed)
        except (SettingError, InklingError) as problem:
            rejected.append(Rejected(dict(message), _reason(problem)))
        else:
            settings = changed
    return settings, rejected


def reject_uncertain(settings: Settings, uncertain: Collection[str]) -> None:
    """Raises `SettingError` if the order of a forecast over uncertain streams is changed."""
    for name in sorted(settings.keys() & set(uncertain)):
        if "order" in settings[name]:
            raise SettingError(
                f"the `order` of `{name}` cannot be changed while it runs: over uncertain streams, "
                "the stored state depends on it"
            )


def what_changed(before: Settings, after: Settings) -> list[str]:
    """The differences between settings in words.

    >>> what_changed({"soon": {"order": 2}}, {"soon": {"confidence": 0.5}})
    ['soon: confidence 0.5', 'soon: order as in the program']
    """
    lines = []
    for forecast in sorted({*before, *after}):
        old, new = before.get(forecast, {}), after.get(forecast, {})
        for name in sorted(name for name in {*old, *new} if old.get(name) != new.get(name)):
            lines.append(f"{forecast}: {name} {f'{new[name]:g}' if name in new else 'as in the program'}")
    return lines


def asked(forecast: str, parameters: Mapping[str, object]) -> list[dict[str, object]]:
    """A call with parameters as control messages, one per parameter."""
    return [{"forecast": forecast, "parameter": name, "value": value} for name, value in parameters.items()]


def all_or_none(settings: Settings, rejected: list[Rejected]) -> Settings:
    """The settings of a call; a call with any rejected message is rejected as a whole."""
    if rejected:
        raise InputError.of(
            "INK0622",
            f"settings not changed: {rejected[0].reason}",
            helps=(f"the settings are {', '.join(PARAMETERS)}",),
        )
    return settings


def _after(settings: Settings, message: Mapping[str, object]) -> Settings:
    missing = [name for name in FIELDS if name not in message]
    if missing:
        raise SettingError(f"the field `{missing[0]}` is missing")
    forecast, parameter, value = (message[name] for name in FIELDS)
    if parameter not in PARAMETERS:
        raise SettingError(f"unknown setting `{parameter}`; the settings are {', '.join(PARAMETERS)}")
    own = dict(settings.get(str(forecast), {}))
    if value is None or value == "":
        own.pop(str(parameter), None)  # as in the program
    else:
        own[str(parameter)] = as_number(value)
    others = {name: one for name, one in settings.items() if name != forecast}
    return {**others, str(forecast): own}


def _reason(problem: Exception) -> str:
    if isinstance(problem, InklingError):
        return problem.diagnostics[0].message
    return str(problem)
