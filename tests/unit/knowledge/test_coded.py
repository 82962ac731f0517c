"""Codes of texts: equal texts have one code, whenever they are coded."""

from __future__ import annotations

import pyarrow as pa

from inkling.knowledge.coded import CodedFacts, Texts


def test_equal_texts_have_one_code_and_codes_give_back_the_texts() -> None:
    texts = Texts()
    first = texts.codes(pa.array(["a", None, "b", "a"]))
    again = texts.codes(pa.array(["c", "b", None, "d", "c"]))
    assert texts.of(pa.concat_arrays([first, again])).to_pylist() == ["a", None, "b", "a", "c", "b", None, "d", "c"]
    assert first[0] == first[3]
    assert first[2] == again[1]
    assert len({one for one in [*first.to_pylist(), *again.to_pylist()] if one is not None}) == 4
    assert texts.code("d") == again[3].as_py()
    assert texts.code("new") not in [*first.to_pylist(), *again.to_pylist()]


def test_only_texts_of_tables_are_coded() -> None:
    table = pa.table({"x": ["a", "b"], "n": [7, None], "y": ["b", None]})
    coded = CodedFacts({"t": table})
    assert coded["t"].column("n").to_pylist() == [7, None]
    assert coded["t"].column("y")[0] == coded["t"].column("x")[1]
    assert coded.texts.plain(coded["t"], ["x", "y"]).to_pydict() == table.to_pydict()
    more = coded | {"u": coded["t"].slice(0, 1)}
    assert more["t"] is coded["t"]
    assert len(more["u"]) == 1
