"""Four afternoons of flower delivery that were worked out elsewhere: who took part, what happened, and what followed.

Lines of a story happen ten milliseconds apart, except where it waits. Promises lie in the future of their story, so
that nothing falls due before its end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

Row = dict[str, object]
Found = Mapping[str, Sequence[tuple[object, ...]]]

BETWEEN_LINES = timedelta(milliseconds=10)
THREE_SQUARES = (
    ("Region_01", 0.0, 100.0, 0.0, 100.0),
    ("Region_02", 100.0, 200.0, 0.0, 100.0),
    ("Region_03", 200.0, 300.0, 0.0, 100.0),
)


def at(year: int, month: int, day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Gps:
    driver: str
    lat: float
    lon: float


@dataclass(frozen=True, slots=True)
class Request:
    store: str
    lat: float
    lon: float
    due: datetime


@dataclass(frozen=True, slots=True)
class Bid:
    driver: str
    pick_up: datetime


@dataclass(frozen=True, slots=True)
class Said:
    """A row of another stream about the only request, or about one long ago."""

    stream: str
    who: Mapping[str, str]
    request: int = 1


@dataclass(frozen=True, slots=True)
class Wait:
    seconds: int


@dataclass(frozen=True, slots=True)
class Afternoon:
    """Seconds are those of the story: its clocks run faster than those of the program."""

    begins: datetime
    bidding: int
    choosing: int
    picking_up: int
    delivering: int
    judged_after: int
    stores: Sequence[tuple[str, int, str]]
    drivers: Mapping[str, int]
    rectangles: Sequence[tuple[str, float, float, float, float]]
    story: Sequence[Gps | Request | Bid | Said | Wait]
    found: Found
    later: Found = field(default_factory=dict)  # what falls due after the story

    def tables(self) -> dict[str, list[Row]]:
        return {
            "stores": [{"store": store, "min_rank": rank, "choice": choice} for store, rank, choice in self.stores],
            "drivers": [{"driver": driver, "rank": rank} for driver, rank in self.drivers.items()],
            "rectangles": [
                {"n": n, "region": region, "south": south, "north": north, "west": west, "east": east}
                for n, (region, south, north, west, east) in enumerate(self.rectangles)
            ],
        }

    def rows(self) -> tuple[dict[str, list[Row]], datetime]:
        """The rows of every stream, and the moment at which the story ends."""
        told: list[tuple[str, datetime, Row]] = [("Joined", self.begins, {"driver": driver}) for driver in self.drivers]
        now = self.begins
        for line in self.story:
            now += BETWEEN_LINES
            match line:
                case Wait(seconds=seconds):
                    now += timedelta(seconds=seconds)
                case Gps(driver=driver, lat=lat, lon=lon):
                    told.append(("Gps", now, {"driver": driver, "lat": lat, "lon": lon}))
                case Request(store=store, lat=lat, lon=lon, due=due):
                    told.append(("Request", now, {"request": 1, "store": store, "lat": lat, "lon": lon}))
                    told.append(("DeliveryDue", due + timedelta(seconds=self.delivering), {"request": 1}))
                case Bid(driver=driver, pick_up=pick_up):
                    who: Row = {"request": 1, "driver": driver}
                    told.append(("Bid", now, who))
                    told.append(("PickUpDue", pick_up + timedelta(seconds=self.picking_up), who))
                case Said(stream=stream, who=who_, request=request):
                    told.append((stream, now, {"request": request, **who_}))
        rows: dict[str, list[Row]] = {}
        for number, (stream, time, values) in enumerate(told):
            row_id: object = number if stream == "Gps" else f"{stream}{number}"
            rows.setdefault(stream, []).append({"id": row_id, **values, "t": time})
        return rows, now


def fault(request: int) -> Said:
    return Said("Complaint", {"driver": "driverF"}, request)


def delivered(request: int) -> Said:
    return Said("Delivery", {"driver": "driverF"}, request)


NEW_YORK = Afternoon(
    begins=at(2010, 1, 24, 10),
    bidding=2,
    choosing=1,
    picking_up=3,
    delivering=6,
    judged_after=20,
    stores=[("store1", 5, "automatic"), ("store2", 6, "manual"), ("store3", 7, "automatic")],
    drivers={"driver1": 5, "driver2": 6, "driver3": 7, "driver4": 8},
    rectangles=[
        ("Manhattan", 4042.0, 4049.0, 7358.0, 7370.0),
        ("TheBronx", 4049.0, 4059.0, 7352.0, 7370.0),
        ("Brooklyn", 4040.0, 4042.0, 7358.0, 7360.0),
        ("Queens", 4042.0, 4059.0, 7355.0, 7364.0),
        ("StatenIsland", 4034.0, 4040.0, 7368.0, 7399.0),
    ],
    story=[
        Gps("driver1", 4043.1, 7359.1),
        Gps("driver2", 4043.2, 7359.2),
        Gps("driver3", 4043.3, 7359.3),
        Request("store1", 4044.0, 7360.0, due=at(2010, 1, 24, 10, 30)),
        Bid("driver1", pick_up=at(2010, 1, 24, 10, 10)),
        Bid("driver2", pick_up=at(2010, 1, 24, 10, 20)),
        Wait(3),
        Said("StoreChoice", {"driver": "driver2"}),
        Wait(1),
        Said("PickUp", {"driver": "driver1"}),
        Wait(1),
    ],
    found={
        "located": [("driver1", 5, "Manhattan"), ("driver2", 6, "Manhattan"), ("driver3", 7, "Manhattan")],
        "enriched": [(1, "store1", 5)],
        "multiplied": [(1, "driver1"), (1, "driver2"), (1, "driver3"), (1, "driver4")],
        "bid_request": [(1, "driver1"), (1, "driver2"), (1, "driver3")],
        "ranked_bid": [(1, "driver1"), (1, "driver2")],
        "bids_closed": [(1, "store1")],
        "in_charge": [(1, "store1", "driver1")],
    },
    later={"delivery_alert": [(1, "driver1")]},
)

A_NEW_RANK = Afternoon(
    begins=at(2010, 12, 23, 23, 50),
    bidding=5,
    choosing=60,
    picking_up=300,
    delivering=600,
    judged_after=1,
    stores=[("store1", 5, "automatic"), ("store2", 5, "manual"), ("store3", 5, "automatic")],
    drivers={"driverA": 7, "driverB": 6, "driverC": 3},
    rectangles=THREE_SQUARES,
    story=[
        Gps("driverA", 10.0, 10.0),
        Gps("driverB", 20.0, 20.0),
        Gps("driverC", 30.0, 30.0),
        Request("store1", 10.0, 10.0, due=at(2010, 12, 24)),
        Bid("driverA", pick_up=at(2010, 12, 24, 0, 4)),
        Bid("driverB", pick_up=at(2010, 12, 24, 0, 4)),
        Wait(6),
        Said("PickUp", {"driver": "driverA"}),
        Wait(1),
        Said("Delivery", {"driver": "driverA"}),
    ],
    found={
        "located": [("driverA", 7, "Region_01"), ("driverB", 6, "Region_01"), ("driverC", 3, "Region_01")],
        "enriched": [(1, "store1", 5)],
        "multiplied": [(1, "driverA"), (1, "driverB"), (1, "driverC")],
        "bid_request": [(1, "driverA"), (1, "driverB")],
        "ranked_bid": [(1, "driverA"), (1, "driverB")],
        "bids_closed": [(1, "store1")],
        "in_charge": [(1, "store1", "driverA")],
        "deliveries": [("driverA", 1)],
        "ranking_increase": [("driverA", 8)],
    },
)

SIX_BIDS = Afternoon(
    begins=at(2010, 1, 1),
    bidding=2,
    choosing=3,
    picking_up=2,
    delivering=3,
    judged_after=20,
    stores=[("store1", 2, "manual")],
    drivers={"driverE": 1, **{f"driver{letter}": 3 for letter in "FGHIJK"}},
    rectangles=THREE_SQUARES,
    story=[
        *(Gps(f"driver{letter}", 210.0, 10.0) for letter in "EFGHIJK"),
        *(fault(request) for request in range(-19, -9)),
        *(delivered(request) for request in range(-19, 0)),
        Request("store1", 210.0, 10.0, due=at(2010, 1, 2)),
        *(Bid(f"driver{letter}", pick_up=at(2010, 1, 2, 0, 3)) for letter in "FGHIJK"),
        Wait(5),
        Said("ByHand", {"store": "store1", "driver": "driverF"}),
        Wait(4),
        Said("PickUp", {"driver": "driverF"}),
        Wait(15),
        delivered(1),
    ],
    found={
        "located": [("driverE", 1, "Region_03"), *((f"driver{letter}", 3, "Region_03") for letter in "FGHIJK")],
        "faults": [("driverF",)] * 10,
        "deliveries": [("driverF", n) for n in range(1, 21)],
        "enriched": [(1, "store1", 2)],
        "multiplied": [(1, f"driver{letter}") for letter in "EFGHIJK"],
        "bid_request": [(1, f"driver{letter}") for letter in "FGHIJK"],
        "ranked_bid": [(1, f"driver{letter}") for letter in "FGHIJK"],
        "bids_closed": [(1, "store1")],
        "offer": [(1, f"driver{letter}", 3) for letter in "FGHIJ"],
        "no_choice_alert": [(1, "store1")],
        "in_charge": [(1, "store1", "driverF")],
        "ranking_decrease": [("driverF", 2)],
    },
)

HANDED_OVER = Afternoon(
    begins=at(2010, 2, 1, 23, 50),
    bidding=2,
    choosing=3,
    picking_up=2,
    delivering=3,
    judged_after=20,
    stores=[("store1", 2, "automatic")],
    drivers={"driverA": 2, "driverB": 2},
    rectangles=THREE_SQUARES,
    story=[
        Gps("driverA", 10.0, 10.0),
        Gps("driverB", 10.0, 10.0),
        Request("store1", 10.0, 10.0, due=at(2010, 2, 2)),
        Bid("driverA", pick_up=at(2010, 2, 2, 0, 3)),
        Wait(3),
        Said("Handover", {"giver": "driverA", "taker": "driverB"}),
        Said("PickUp", {"driver": "driverB"}),
        Said("Delivery", {"driver": "driverB"}),
    ],
    found={
        "located": [("driverA", 2, "Region_01"), ("driverB", 2, "Region_01")],
        "enriched": [(1, "store1", 2)],
        "multiplied": [(1, "driverA"), (1, "driverB")],
        "bid_request": [(1, "driverA"), (1, "driverB")],
        "ranked_bid": [(1, "driverA")],
        "bids_closed": [(1, "store1")],
        "in_charge": [(1, "store1", "driverA"), (1, "store1", "driverB")],
        "deliveries": [("driverB", 1)],
    },
)

AFTERNOONS = {"new york": NEW_YORK, "a new rank": A_NEW_RANK, "six bids": SIX_BIDS, "handed over": HANDED_OVER}
