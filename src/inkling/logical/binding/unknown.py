"""What to say when a bare name or a variable means nothing."""

from __future__ import annotations

from collections.abc import Iterable

from inkling.language import syntax as s
from inkling.logical.binding.mistakes import did_you_mean, listed
from inkling.logical.binding.names import EventNames
from inkling.logical.binding.place_columns import typed_column
from inkling.logical.binding.places import Place


def report_unknown(name: s.Ident, names: EventNames, home: Place | None, notes: Iterable[str] = ()) -> None:
    """Reports a name that nothing binds, with the likeliest repair."""
    if name.text in names.unknowable:
        return
    if home is not None and any(name.text in source.columns or name.text == source.op for source in home.sources):
        typed_column(home, name, names.mistakes)
        return
    known = (*names.shape.names, *names.bare_names, *(home.columns if home else ()))
    choices = [choice for choice in known if choice != name.text]
    helps: tuple[str, ...] = did_you_mean(name.text, choices)
    having = [place for place in names.shape.places if name.text in place.columns and not place.fences]
    named = [place.title for place in having if place.name]
    of_that_type = [
        place.title
        for place in names.shape.places
        if place.name and name.text in (source.name for source in place.sources)
    ]
    remarks = list(notes)
    if having and home is None:
        remarks.insert(0, "outside `[…]` a bare name is a variable, not a column")
    if named:
        helps = (f"write {listed([f'{var}.{name}' for var in named[:3]], 'or')}",)
    elif having:
        source = having[0].sources[0].name if having[0].sources else "_"
        helps = (f"give the event a name, `{source} e`, and write `e.{name}`",)
    elif of_that_type:
        helps = (f"use the name of the event: {listed(of_that_type, 'or')}",)
    elif name.text in names.catalog.sources:
        helps = (f"give the event a name in the pattern, such as `{name} e`, and write `e`",)
    names.mistakes.wrong("INK0207", f"nothing is called `{name}` here", name, notes=remarks, helps=helps)


def warn_of_column(name: s.Ident, names: EventNames) -> None:
    """Warns of a table variable that stands for any value, where a column of that name exists."""
    owners = [place.title for place in names.shape.places if place.name and name.text in place.columns]
    if owners:
        names.mistakes.warn(
            "INK0325",
            f"`{name}` stands for any value here, not for a column",
            name,
            notes=["outside `[…]` a bare name is a variable, and nothing else mentions this one"],
            helps=[f"write {listed([f'{owner}.{name}' for owner in owners[:3]], 'or')} for the column"],
        )
