"""Facts with numbers in place of their texts, so that joins and sets of facts compare numbers only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from inkling.model.batch import in_one_array

CODES = pa.int64()


class Texts:
    """Texts and their codes; equal texts have one code, and null stays null."""

    def __init__(self) -> None:
        self._texts = pa.array([], pa.string())
        self._constants: dict[str, int] = {}

    def codes(self, texts: pa.Array) -> pa.Array:
        encoded = texts.dictionary_encode()
        values = encoded.dictionary
        code = pc.index_in(values, self._texts) if len(self._texts) else pa.nulls(len(values), pa.int32())
        is_new = code.is_null()
        n_new = code.null_count
        if n_new:
            numbers = code.fill_null(0).to_numpy().astype(np.int64)
            numbers[is_new.to_numpy(zero_copy_only=False)] = len(self._texts) + np.arange(n_new)
            code = pa.array(numbers)
            self._texts = pa.concat_arrays([self._texts, values.filter(is_new)])
        return code.cast(CODES).take(encoded.indices)

    def code(self, text: str) -> int:
        if text not in self._constants:
            self._constants[text] = self.codes(pa.array([text]))[0].as_py()
        return self._constants[text]

    def of(self, codes: pa.Array) -> pa.Array:
        return self._texts.take(codes)

    def coded(self, facts: pa.Table) -> pa.Table:
        """The table with codes in place of texts."""
        places = [place for place, column in enumerate(facts.itercolumns()) if pa.types.is_string(column.type)]
        if not places:
            return facts
        together = self.codes(pa.concat_arrays([in_one_array(facts.column(place)) for place in places]))
        for number, place in enumerate(places):
            column = together.slice(number * len(facts), len(facts))
            facts = facts.set_column(place, facts.field(place).name, column)
        return facts

    def plain(self, facts: pa.Table, names: Iterable[str]) -> pa.Table:
        """The table with texts in place of codes in the named columns."""
        for name in names:
            place = facts.column_names.index(name)
            facts = facts.set_column(place, name, self.of(in_one_array(facts.column(place))))
        return facts


class CodedFacts:
    """Tables of facts with codes in place of texts; a table is coded when it is first read."""

    def __init__(self, tables: Mapping[str, pa.Table], texts: Texts | None = None) -> None:
        self.texts = Texts() if texts is None else texts
        self._plain = tables
        self._coded: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._coded:
            self._coded[name] = self.texts.coded(self._plain[name])
        return self._coded[name]

    def __or__(self, coded: Mapping[str, pa.Table]) -> CodedFacts:
        """With further tables, which are coded already."""
        both = CodedFacts(self._plain, self.texts)
        both._coded = {**self._coded, **coded}
        return both
