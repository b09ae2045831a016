"""A fleet whose truth is known: the statistics of virtual drives, drawn at once for all drives of a day.

Each run has the figures that a measurement would give: the drive's true rate and latency, times the effects of its
firmware, rack, host, enclosure and slot, times the noise of one run. The truth lies beside the lake, in `truth.parquet`.
Histograms are drawn from 256 Poisson samples per model, shifted by the drive's latency; `test_simulate.py` holds them
against histograms counted request by request.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from . import schema
from .histogram import bucket_of
from .lake import Lake

FIRST_DAY = datetime.date(2026, 8, 1)
SLOTS = 12
ENCLOSURES_PER_HOST = 2
HOSTS_PER_RACK = 10
SURFACE_EVERY_DAYS = 7
SWAP_DAY_SHARE = 0.5
REQUESTS_PER_RUN = 150
TEMPLATES = 256

DRIVE_DEVIATION = 0.012
RUN_DEVIATION = 0.02
HOST_DEVIATION = 0.003
ENCLOSURE_DEVIATION = 0.005
SLOW_SHARE = 0.01
SLOW_SHARE_BAD_BATCH = 0.05
BAD_BATCH_SHARE = 0.04
DRIVES_PER_BATCH = 500
AGEING_SHARE = 0.005
FAIL_SLOW_SHARE = 0.003
HOT_RACK_SHARE = 0.02
HOT_RACK_EFFECT = np.log(0.95)
VIBRATING_SLOTS = (0, 11)
VIBRATION_EFFECT = np.log(0.96)
BAD_CABLE_SHARE = 0.002
FIRMWARE_EFFECT = np.log(0.97)
COUNTERFEIT_SHARE = 0.0005
SMR_SHARE = 0.001
FAILING_SHARE = 0.004
# The findings that a failing drive may have, and whether on one day only: a lost device is back the next day.
FAILURES = (("bad-blocks", False), ("data-integrity", False), ("device-lost", True))
REQUESTS_FAILED_PER_REGION = 8


@dataclass(frozen=True)
class Model:
    """What a model of drives is meant to be."""

    name: str
    capacity_bytes: int
    outer: float
    inner_ratio: float
    access_seconds: float
    firmware: tuple[str, ...]
    slower_firmware: str | None = None


MODELS = (
    Model("ST4000DM000", 4_000_787_030_016, 180e6, 0.48, 0.0155, ("CC52", "CC54"), "CC54"),
    Model("ST8000NM0055", 8_001_563_222_016, 249e6, 0.47, 0.0122, ("SN04", "SN05"), None),
    Model("ST12000NM0007", 12_000_138_625_024, 245e6, 0.47, 0.0124, ("SN02", "SN03"), "SN03"),
    Model("ST16000NM001G", 16_000_900_661_248, 261e6, 0.46, 0.0121, ("SN02", "SN03"), None),
    Model("HGST HMS5C4040BLE640", 4_000_787_030_016, 151e6, 0.50, 0.0171, ("A580", "A5D0"), None),
    Model("HGST HUH721212ALN604", 12_000_138_625_024, 243e6, 0.47, 0.0119, ("W3T0", "W3D0"), None),
    Model("TOSHIBA MG07ACA14TA", 14_000_519_643_136, 248e6, 0.46, 0.0126, ("0101", "0104"), "0104"),
    Model("TOSHIBA MG08ACA16TE", 16_000_900_661_248, 262e6, 0.46, 0.0125, ("0102", "4303"), None),
    Model("WDC WUH721414ALE6L4", 14_000_519_643_136, 255e6, 0.46, 0.0118, ("W148", "W240"), None),
    Model("WDC WD40EFRX", 4_000_787_030_016, 150e6, 0.49, 0.0170, ("82.00A82", "83.00A83"), None),
)


def simulate(lake_place: str, drives: int, days: int, seed: int, truth_path: Path) -> int:
    """Fills a lake with `days` of a fleet of `drives`; returns the number of runs."""
    random = np.random.default_rng(seed)
    fleet = Fleet(drives, days, random)
    lake = Lake.open(lake_place, create=True)
    runs = sum(fleet.write_day(lake, day, random) for day in range(days))
    truth_path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(fleet.truth(), truth_path)
    return runs


class Fleet:
    """All drives, what is true of each, and where each is on a day."""

    def __init__(self, drives: int, days: int, random: np.random.Generator):
        self.drives, self.days = drives, days
        self.enclosures = -(-drives // SLOTS)
        self.slots = np.arange(drives)
        # An enclosure holds one model, as it is bought; models are spread over hosts and racks.
        enclosure_model = random.integers(0, len(MODELS), self.enclosures)
        self.model = enclosure_model[self.slots // SLOTS]
        self.firmware = random.integers(0, 2, drives)
        self._draw_drives(random)
        self._draw_places(random)
        self._draw_swaps(random)
        # A stream of its own, so that the rest of a fleet is as it was without failures.
        self._draw_failures(random.spawn(1)[0])
        self.templates = [_histogram_templates(model, random) for model in MODELS]
        self.serial = np.char.add("SIM", np.char.zfill(np.arange(drives).astype(str), 7))

    def _draw_drives(self, random: np.random.Generator) -> None:
        n = self.drives
        self.capacity = np.array([model.capacity_bytes for model in MODELS])[self.model]
        self.base = DRIVE_DEVIATION * random.standard_normal(n)
        position_in_model = np.zeros(n, dtype=np.int64)
        for model in range(len(MODELS)):
            mask = self.model == model
            position_in_model[mask] = np.arange(mask.sum())
        self.batch = self.model * 10_000 + position_in_model // DRIVES_PER_BATCH
        batches = np.unique(self.batch)
        bad = batches[random.random(len(batches)) < BAD_BATCH_SHARE]
        self.bad_batch = np.isin(self.batch, bad)
        share = np.where(self.bad_batch, SLOW_SHARE_BAD_BATCH, SLOW_SHARE)
        self.slow = np.where(random.random(n) < share, np.log(1 - random.uniform(0.1, 0.4, n)), 0.0)
        late = random.random(n) < 0.5
        self.onset = np.where((self.slow < 0) & late, random.integers(self.days // 6, max(self.days // 2, 1) + 1, n), 0)
        healthy = self.slow == 0
        self.ageing = np.where(healthy & (random.random(n) < AGEING_SHARE), np.log(0.85), 0.0)
        healthy &= self.ageing == 0
        self.fail_slow = np.where(healthy & (random.random(n) < FAIL_SLOW_SHARE), np.log(1.4), 0.0)
        self.fail_slow_onset = random.integers(0, max(self.days // 2, 1) + 1, n)
        self.counterfeit = random.random(n) < COUNTERFEIT_SHARE
        self.smr = random.random(n) < SMR_SHARE
        self.region_day = random.exponential(np.where(self.bad_batch, 600.0, 3000.0), n)

    def _draw_places(self, random: np.random.Generator) -> None:
        hosts = -(-self.enclosures // ENCLOSURES_PER_HOST)
        racks = -(-hosts // HOSTS_PER_RACK)
        self.enclosure_effect = ENCLOSURE_DEVIATION * random.standard_normal(self.enclosures)
        self.host_effect = HOST_DEVIATION * random.standard_normal(hosts)
        self.hot_rack = random.random(racks) < HOT_RACK_SHARE
        self.bad_cable = random.random(self.drives) < BAD_CABLE_SHARE
        enclosure = self.slots // SLOTS
        host = enclosure // ENCLOSURES_PER_HOST
        self.place_effect = (
            self.enclosure_effect[enclosure]
            + self.host_effect[host]
            + np.where(self.hot_rack[host // HOSTS_PER_RACK], HOT_RACK_EFFECT, 0.0)
            + np.where(np.isin(self.slots % SLOTS, VIBRATING_SLOTS), VIBRATION_EFFECT, 0.0)
            + np.where(self.bad_cable, np.log(0.8), 0.0)
        )

    def _draw_swaps(self, random: np.random.Generator) -> None:
        """In the middle of the time, half of the suspects swap slots with a drive of the same model elsewhere."""
        self.swap_day = int(self.days * SWAP_DAY_SHARE)
        suspect = (self.bad_cable | ((self.slow < 0) & (self.onset == 0))) & (random.random(self.drives) < 0.5)
        self.slot_after = self.slots.copy()
        sound = ~self.bad_cable & (self.slow == 0) & (self.ageing == 0)
        for model in range(len(MODELS)):
            first = np.flatnonzero(suspect & (self.model == model))
            partners = random.permutation(np.flatnonzero(sound & (self.model == model)))[: len(first)]
            first = first[: len(partners)]
            self.slot_after[first], self.slot_after[partners] = partners, first
        self.swapped = self.slot_after != self.slots

    def _draw_failures(self, random: np.random.Generator) -> None:
        fails = random.random(self.drives) < FAILING_SHARE
        self.failure = np.where(fails, random.integers(0, len(FAILURES), self.drives), -1)
        self.failure_day = random.integers(0, self.days, self.drives)

    def failing_on(self, day: int) -> np.ndarray:
        """The number of the failure that a run of this day finds in each drive, -1 for none."""
        once = np.array([once for _, once in FAILURES])[self.failure]
        return np.where((day == self.failure_day) | ((day > self.failure_day) & ~once), self.failure, -1)

    def slot_on(self, day: int) -> np.ndarray:
        return self.slots if day < self.swap_day else self.slot_after

    def drive_effect(self, day: int) -> np.ndarray:
        """What is slow about each drive itself on a day, as a logarithm."""
        ageing = self.ageing * day / max(self.days - 1, 1)
        return np.where(day >= self.onset, self.slow, 0.0) + ageing

    def firmware_effect(self) -> np.ndarray:
        slower = np.array([[name == model.slower_firmware for name in model.firmware] for model in MODELS])
        return np.where(slower[self.model, self.firmware], FIRMWARE_EFFECT, 0.0)

    def write_day(self, lake: Lake, day: int, random: np.random.Generator) -> int:
        """A `check` of each drive, and each week a `surface`, one file per model."""
        date = (FIRST_DAY + datetime.timedelta(days=day)).isoformat()
        level = self.base + self.drive_effect(day) + self.firmware_effect() + self.place_effect[self.slot_on(day)]
        written = 0
        for index, model in enumerate(MODELS):
            drives = np.flatnonzero(self.model == index)
            if len(drives) == 0:
                continue
            parts = [self._runs(model, index, drives, level, day, "check", random)]
            due = drives[drives % SURFACE_EVERY_DAYS == day % SURFACE_EVERY_DAYS]
            if len(due) > 0:
                parts.append(self._runs(model, index, due, level, day, "surface", random))
            rows = pa.concat_tables(parts)
            lake.put(lake.partition(date, model.name), rows)
            written += rows.num_rows
        return written

    def _runs(
        self,
        model: Model,
        index: int,
        drives: np.ndarray,
        level: np.ndarray,
        day: int,
        experiment: str,
        random: np.random.Generator,
    ) -> pa.Table:
        n = len(drives)
        slot = self.slot_on(day)[drives]
        enclosure = slot // SLOTS
        host = enclosure // ENCLOSURES_PER_HOST
        fail_slow = np.where(day >= self.fail_slow_onset[drives], self.fail_slow[drives], 0.0)
        rate = np.exp(level[drives] + RUN_DEVIATION * random.standard_normal(n))
        delay = np.exp(-0.3 * (level[drives] - self.base[drives]) + fail_slow + 0.01 * random.standard_normal(n))
        date = FIRST_DAY + datetime.timedelta(days=day)
        start = np.datetime64(date.isoformat(), "us") + (random.integers(0, 80_000, n) * 1_000_000).astype("timedelta64[us]")
        regions = self.region_day[drives] < day
        failure = self.failing_on(day)[drives]
        is_lost = failure == [code for code, _ in FAILURES].index("device-lost")
        columns = {
            "key": pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), n, [None, pa.py_buffer(random.bytes(16 * n))]),
            "run_id": pa.array(np.char.add(self.serial[drives], f"-{experiment}-{date.isoformat()}")),
            "started": pa.array(start, pa.timestamp("us")).cast(pa.timestamp("us", tz="UTC")),
            "seconds": pa.array(np.full(n, 60.0)),
            "status": pa.array(np.where(is_lost, "failed", "complete")),
            "version": _repeated("sim", n),
            "experiment": _repeated(experiment, n),
            "serial": pa.array(self.serial[drives]),
            "model": _repeated(model.name, n),
            "firmware": pa.array(np.array(model.firmware)[self.firmware[drives]]),
            "capacity_bytes": pa.array(self.capacity[drives]),
            "host": _numbered("host-", host, 5),
            "rack": _numbered("rack-", host // HOSTS_PER_RACK, 4),
            "enclosure": _numbered("enclosure-", enclosure, 5),
            "slot": pa.array((slot % SLOTS).astype(np.int32)),
            "batch": _numbered("batch-", self.batch[drives], 6),
            "health": pa.array(np.where(failure >= 0, "failing", np.where(regions, "degraded", "sound"))),
            "temperature_celsius": pa.array(np.where(self.hot_rack[host // HOSTS_PER_RACK], 51.0, 36.0) + random.standard_normal(n)),
            "power_on_hours": pa.array((10_000.0 + 24 * day) + np.zeros(n)),
            "findings": self._findings(model, drives, rate, delay, regions, failure, experiment),
            "histograms": self._histograms(index, delay, random),
            "state": pa.ListArray.from_arrays(np.zeros(n + 1, np.int32), pa.array([], schema.STATE)),
            "windows": _windows(model, level[drives], fail_slow, random),
        }
        return pa.table(columns).cast(schema.RUNS)

    def _findings(
        self,
        model: Model,
        drives: np.ndarray,
        rate: np.ndarray,
        delay: np.ndarray,
        regions: np.ndarray,
        failure: np.ndarray,
        experiment: str,
    ) -> pa.Array:
        n = len(drives)
        # Code, value, unit, half width as a share, and the word of a finding that is one.
        found: list[tuple[str, np.ndarray, str | None, float, np.ndarray | None]] = [
            ("read-rate-outer", model.outer * rate, "B/s", 0.01, None),
            ("access-time", model.access_seconds * delay, "s", 0.02, None),
        ]
        if experiment == "surface":
            mean = model.outer * (1 + model.inner_ratio) / 2
            held = np.where(self.counterfeit[drives], 0.5, 1.0) * self.capacity[drives]
            kind = np.where(self.smr[drives], "smr", "cmr")
            found += [
                ("read-rate-inner", model.outer * model.inner_ratio * rate, "B/s", 0.01, None),
                ("read-rate-mean", mean * rate, "B/s", 0.01, None),
                ("slow-regions", regions.astype(float), "count", 0.0, None),
                ("capacity-true", held, "bytes", 0.0, None),
                ("recording-kind", np.full(n, np.nan), None, 0.0, kind),
            ]
        of_run = [np.arange(n)] * len(found)
        for number, (code, _) in enumerate(FAILURES):
            failing = np.flatnonzero(failure == number)
            count = 1.0 + drives[failing] % 5
            found.append((code, count, "count", 0.0, None))
            of_run.append(failing)
            if code == "bad-blocks":
                found.append(("failed-requests", REQUESTS_FAILED_PER_REGION * count, "count", 0.0, None))
                of_run.append(failing)
        # Code by code, then sorted so that the findings of a run lie together.
        run = np.concatenate(of_run)
        order = np.argsort(run, kind="stable")
        lengths = [len(entry[1]) for entry in found]
        value = np.concatenate([entry[1] for entry in found])[order]
        half = np.concatenate([entry[1] * entry[3] for entry in found])[order]
        missing = np.isnan(value)
        words = np.concatenate([np.full(len(entry[1]), "") if entry[4] is None else entry[4] for entry in found])[order]
        fields = [
            pa.array(np.repeat([entry[0] for entry in found], lengths)[order]),
            pa.array(value, mask=missing),
            pa.array(words, mask=words == "", type=pa.string()),
            pa.array(np.repeat([entry[2] or "" for entry in found], lengths)[order]),
            pa.array(value - half, mask=missing),
            pa.array(value + half, mask=missing),
            pa.array(np.full(len(run), 20.0)),
            pa.nulls(len(run), pa.string()),
        ]
        values = pa.StructArray.from_arrays(fields, fields=list(schema.FINDING))
        ends = np.cumsum(np.bincount(run, minlength=n))
        return pa.ListArray.from_arrays(np.concatenate([[0], ends]).astype(np.int32), values)

    def _histograms(self, index: int, delay: np.ndarray, random: np.random.Generator) -> pa.Array:
        """A sampled histogram for each run, moved by as many buckets as the drive's latency differs."""
        buckets, counts, lengths, starts = self.templates[index]
        n = len(delay)
        chosen = random.integers(0, TEMPLATES, n)
        length = lengths[chosen]
        ends = np.cumsum(length)
        position = np.arange(ends[-1]) - np.repeat(ends - length, length) + np.repeat(starts[chosen], length)
        shift = np.round(np.log2(delay) * schema.BUCKETS_PER_OCTAVE).astype(np.int32)
        moved = buckets[position] + np.repeat(shift, length)
        cells = pa.StructArray.from_arrays([pa.array(moved), pa.array(counts[position])], fields=list(schema.BUCKET))
        offsets = np.concatenate([[0], ends]).astype(np.int32)
        total = np.add.reduceat(counts[position], offsets[:-1])
        access = MODELS[index].access_seconds * 1e9 * delay
        fields = [
            pa.array(np.zeros(n, np.int32)),
            _repeated("read", n),
            pa.array(np.full(n, 4096, np.int64)),
            pa.array(np.ones(n, np.int32)),
            pa.array(total),
            pa.array(total * access),
            pa.ListArray.from_arrays(offsets, cells),
        ]
        values = pa.StructArray.from_arrays(fields, fields=list(schema.HISTOGRAM))
        return pa.ListArray.from_arrays(np.arange(n + 1, dtype=np.int32), values)

    def truth(self) -> pa.Table:
        """What is true of each drive and of its last slot, as shares: 0.1 is 10 % slower than the drive should be, or than its mean equal is."""
        last = self.slot_on(self.days - 1)
        window = range(max(self.days - 28, 0), self.days)
        recent = np.mean([self.drive_effect(day) for day in window], axis=0)
        failing = np.max([self.failing_on(day) for day in window], axis=0)
        return pa.table(
            {
                "serial": self.serial,
                "model": np.array([model.name for model in MODELS])[self.model],
                "slower": 1 - np.exp(recent),
                "below_equals": 1 - np.exp(recent + self.base),
                "slowed_on_day": self.onset,
                "ageing": self.ageing < 0,
                "fail_slow": self.fail_slow > 0,
                "bad_batch": self.bad_batch,
                "batch": np.char.add("batch-", np.char.zfill(self.batch.astype(str), 6)),
                "slower_firmware": self.firmware_effect() < 0,
                "bad_slot": self.bad_cable[last],
                "bad_slot_before": self.bad_cable,
                "swapped": self.swapped,
                "counterfeit": self.counterfeit,
                "smr": self.smr,
                "failing": np.array(["", *(code for code, _ in FAILURES)])[failing + 1],
                "failed_before": (self.failure >= 0) & (failing < 0),
            }
        )


def drawn_places(drives: int, days: int, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Sums by place of outer throughput, drawn for all runs of a place at once, and the truth: many fleets in seconds, without lakes."""
    random = np.random.default_rng(seed)
    fleet = Fleet(drives, days, random)
    recent = max(days - 28, 0)
    parts = []
    for slot, begin, end, there in (
        (fleet.slots, 0, fleet.swap_day, fleet.swapped),
        (fleet.slot_after, fleet.swap_day, days, fleet.swapped),
        (fleet.slots, 0, days, ~fleet.swapped),
    ):
        enclosure = slot // SLOTS
        host = enclosure // ENCLOSURES_PER_HOST
        n, n_recent = end - begin, max(end - max(begin, recent), 0)
        effect = np.mean([fleet.drive_effect(day) for day in range(max(begin, min(recent, end - 1)), end)], axis=0)
        level = fleet.base + effect + fleet.firmware_effect() + fleet.place_effect[slot] + RUN_DEVIATION / np.sqrt(n_recent or n) * random.standard_normal(drives)
        columns = {
            "serial": fleet.serial, "model": fleet.model, "firmware": fleet.firmware, "capacity_bytes": fleet.capacity, "host": host,
            "rack": host // HOSTS_PER_RACK, "enclosure": enclosure, "slot": (slot % SLOTS).astype(float), "batch": fleet.batch,
            "n": float(n), "y": n * level, "n_recent": float(n_recent), "y_recent": n_recent * level,
        }
        parts.append(pd.DataFrame(columns)[there])
    truth = fleet.truth().to_pandas().assign(batch=fleet.batch)
    return pd.concat(parts, ignore_index=True), truth


def latencies_ns(model: Model, requests: int, random: np.random.Generator) -> np.ndarray:
    """Single random reads, request by request: overhead, a seek and half a revolution on average."""
    rotation = random.uniform(0, 0.00833, requests)
    seek = (model.access_seconds - 0.00833 / 2) * random.beta(6, 4, requests) / 0.6
    return np.round((rotation + seek) * 1e9).astype(np.int64)


def _histogram_templates(
    model: Model, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Samples of a run's histogram: the expected count of each bucket, Poisson."""
    many = bucket_of(latencies_ns(model, 200_000, random))
    bucket, count = np.unique(many, return_counts=True)
    expected = count * (REQUESTS_PER_RUN / len(many))
    drawn = random.poisson(expected, (TEMPLATES, len(bucket)))
    rows, columns = np.nonzero(drawn)
    lengths = np.bincount(rows, minlength=TEMPLATES)
    starts = np.cumsum(lengths) - lengths
    return bucket[columns].astype(np.int32), drawn[rows, columns].astype(np.int64), lengths, starts


def _windows(model: Model, level: np.ndarray, fail_slow: np.ndarray, random: np.random.Generator) -> pa.Array:
    """Throughput and latency of two windows of production load: latency rises with throughput as in a queue."""
    n = len(level)
    load = random.uniform(0.1, 0.7, 2 * n)
    latency = model.access_seconds / (1 - load) * np.exp(np.repeat(fail_slow, 2) + 0.08 * random.standard_normal(2 * n))
    fields = [pa.array(np.tile([0.0, 30.0], n)), pa.array(model.outer * load * np.exp(np.repeat(level, 2))), pa.array(latency)]
    values = pa.StructArray.from_arrays(fields, fields=list(schema.WINDOW))
    return pa.ListArray.from_arrays(np.arange(0, 2 * n + 1, 2, dtype=np.int32), values)


def _numbered(prefix: str, numbers: np.ndarray, width: int) -> pa.Array:
    return pa.array(np.char.add(prefix, np.char.zfill(numbers.astype(str), width)))


def _repeated(text: str, n: int) -> pa.Array:
    return pa.array([text]).take(pa.array(np.zeros(n, np.int32)))
