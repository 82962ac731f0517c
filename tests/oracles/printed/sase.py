"""Queries printed in papers on SASE: the language (2006), repetitions (SIGMOD 2008), imprecise timestamps (PVLDB 2010).

Types of streams follow what the papers say in prose; a tick is as long as the window needs.
"""

from tests.oracles.printed.printed_text import PrintedText

_TAGS = "".join(
    f"STREAM {name}(tag_id BIGINT, t BIGINT) TIME t TICK 1 HOURS;\n" for name in ("Shelf", "Register", "Exit")
)
_READINGS = "".join(f"STREAM {one}(id BIGINT, t BIGINT) TIME t TICK 1 HOURS;\n" for one in ("SHELF", "COUNTER", "EXIT"))
_STOCK = "STREAM Stock(symbol STRING, price DOUBLE, volume BIGINT, t BIGINT) TIME t TICK 1 MINUTES;"
_CLUSTER = """
STREAM TaskStart(id STRING, taskId BIGINT, nodeId BIGINT, t BIGINT) ID id TIME t TICK 1 SECONDS;
STREAM CPU(id STRING, nodeId BIGINT, value DOUBLE, t BIGINT) ID id TIME t TICK 1 SECONDS;
STREAM TaskFinish(id STRING, taskId BIGINT, t BIGINT) ID id TIME t TICK 1 SECONDS;
"""
_QUERY_1 = """
Query 1:
PATTERN SEQ(TaskStart a,CPU b,TaskFinish c,CPU d)
WHERE a.taskId = c.taskId AND
      b.nodeId = a.nodeId AND
      d.nodeId = a.nodeId AND
      b.value > 95% AND
      d.value <= 70% AND
      skip_till_any_match(a, b, c, d)
WITHIN 15 seconds
RETURN a, b, c
"""
_TASK = (
    "TaskStart(s,1,1)@1 CPU(b1,1,0.97)@3 CPU(b2,1,0.99)@4 CPU(x,2,0.99)@5 TaskFinish(f,1)@8 CPU(d,1,0.5)@10"
    " CPU(late,1,0.6)@16"
)

TEXTS = [
    PrintedText(
        "theft-2006",
        "2006, section 2, query 1",
        """
        EVENT SEQ(SHELF x, !(COUNTER y), EXIT z)
        WHERE x.id = y.id ∧ x.id = z.id
        WITHIN 12 hours
        """,
        ".sase",
        setting=_READINGS,
        events="SHELF(1)@1 SHELF(2)@2 COUNTER(1)@5 EXIT(1)@6 EXIT(2)@7",
        found={"query1": [(2, 7)]},
        misprint="type names are printed with hyphens, SHELF-READING, which are minus signs here",
    ),
    PrintedText(
        "theft",
        "2008, figure 1, query 1",
        """
        PATTERN SEQ(Shelf a, ∼(Register b), Exit c)
        WHERE skip_till_next_match(a, b, c) {
              a.tag_id = b.tag_id
              and a.tag_id = c.tag_id
              /* equivalently, [tag_id] */ }
        WITHIN 12 hours
        """,
        ".sase",
        setting=_TAGS,
        events="Shelf(1)@1 Shelf(2)@2 Shelf(3)@3 Register(1)@5 Exit(1)@6 Exit(2)@7 Exit(3)@15",
        found={"query1": [(2, 7)]},
    ),
    PrintedText(
        "contamination",
        "2008, figure 1, query 2",
        """
        PATTERN SEQ(Alert a, Shipment+ b[ ])
        WHERE skip_till_any_match(a, b[ ]) {
              a.type = 'contaminated' and
              b[1].from = a.site and
              b[i].from = b[i-1].to }
        WITHIN 3 hours
        """,
        ".sase",
        setting="""
        STREAM Alert(type STRING, site STRING, t BIGINT) TIME t TICK 1 MINUTES;
        STREAM Shipment(from STRING, to STRING, t BIGINT) TIME t TICK 1 MINUTES;
        """,
        events="Alert(contaminated,p)@1 Alert(no,q)@1 Shipment(p,q)@2 Shipment(q,r)@3 Shipment(x,y)@4 Shipment(r,s)@5",
        found={"query1": [(1, 2), (1, 3), (1, 5)]},
    ),
    PrintedText(
        "stocks",
        "2008, figure 1, query 3",
        """
        PATTERN SEQ(Stock+ a[ ], Stock b)
        WHERE skip_till_next_match(a[ ], b) {
              [symbol]
              and a[1].volume > 1000
              and a[i].price > avg(a[..i-1].price)
              and b.volume < 80% * a[a.LEN].volume }
        WITHIN 1 hour
        """,
        ".sase",
        setting=_STOCK,
        # from 1: 12 > 10, 11.5 > 11, then 11 < 11.17 and 500 < 720; from 2: 11.5 < 12 and 900 > 880, then 500 < 880
        events="Stock(X,10,1200)@1 Stock(X,12,1100)@2 Stock(Y,50,100)@3 Stock(X,11.5,900)@4 Stock(X,11,500)@5",
        found={"query1": [("X", 1, 5), ("X", 2, 5)]},
    ),
    PrintedText(
        "cluster-any",
        "2010, section 3.1, query 1",
        _QUERY_1,
        ".sase",
        setting=_CLUSTER,
        events=_TASK,
        found={"query1": [("s", "b1", "f", 1, 10), ("s", "b2", "f", 1, 10)]},
    ),
    PrintedText(
        "cluster-next",
        "2010, section 3.1",
        _QUERY_1.replace("any", "next"),
        ".sase",
        setting=_CLUSTER,
        events=_TASK,
        found={"query1": [("s", "b1", "f", 1, 10)]},
    ),
    PrintedText(
        "workload",
        "2010, section 6.1",
        """
        PATTERN SEQ(E a, E b, E c)
        WHERE a.v % 31 = 0 AND b.v % 37 = 0 AND c.v % 41 = 0 AND skip_till_next_match(a, b, c)
        WITHIN 100
        """,
        ".sase",
        setting="STREAM E(v BIGINT, t BIGINT) TIME t;",
        events="E(31)@1 E(37)@10 E(74)@20 E(41)@100 E(82)@101 E(62)@2",
        found={"query1": [(1, 100), (2, 100)]},
        misprint="printed with subscripts for any number of parts",
    ),
]
