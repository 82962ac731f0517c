"""A stage waits for all streams for which the stages wait that derive what it reads."""

import inkling

PROGRAM = """
STREAM Tick(id BIGINT, k STRING, x BIGINT, t BIGINT) ID id KEY k TIME t;
STREAM Sale(id STRING, k STRING, t BIGINT) ID id KEY k TIME t;

EVENT jump(k) AS
  PATTERN SEQ(Tick a, NOT Sale, Tick b[x > 2 * a.x])
  WITHIN 5 TICKS
  PARTITION BY k
  PER END;

EVENT rise(k) AS
  PATTERN SEQ STRICT(Tick a, Tick b[x > a.x])
  WITHIN 5 TICKS
  PARTITION BY k;

EVENT copy AS PATTERN rise r;
"""


def test_a_derived_event_is_not_overtaken() -> None:
    """`rise` needs no sales, but shares its stage with `jump`, which does."""
    program = inkling.parse(PROGRAM)
    ticks = [{"id": n, "k": "a", "x": n % 2, "t": n} for n in range(1, 41)]
    sales = [{"id": f"s{t}", "k": "a", "t": t} for t in (3, 18)]
    whole = program.run_local({"Tick": ticks, "Sale": sales}).tables
    assert whole["copy"].num_rows == whole["rise"].num_rows == 19
    stream = program.open()
    pieces = [
        stream.push({"Tick": ticks[:20], "Sale": sales[:1]}),
        stream.push({"Tick": ticks[20:], "Sale": sales[1:]}),
    ]
    pieces.append(stream.finish())
    for event in ("rise", "copy", "jump"):
        found = [end for piece in pieces for end in piece[event]["end"].to_pylist()]
        assert found == sorted(whole[event]["end"].to_pylist()), event
