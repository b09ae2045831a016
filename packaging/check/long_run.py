"""A run of 10 million intervals: `long_run.py make` makes it of the last run and prints its folder, `long_run.py load FOLDER` prints how
long `load` takes and how much memory Python then has, and the same with the bytes of all intervals added up."""

import resource
import shutil
import sys
import time
from pathlib import Path

import drivescope

INTERVALS = 10_000_000
SEGMENT_ROWS = 1_000_000


def make() -> Path:
    import pyarrow
    import pyarrow.parquet

    short = drivescope.load("last").folder
    folder = short.with_name("of-10-million-intervals")
    shutil.copytree(short, folder)
    (segment,) = folder.glob("intervals-*.parquet")
    few = pyarrow.parquet.read_table(segment)
    many = pyarrow.concat_tables([few] * (SEGMENT_ROWS // few.num_rows + 1)).slice(0, SEGMENT_ROWS)
    for number in range(1, INTERVALS // SEGMENT_ROWS + 1):
        path = folder / f"intervals-{number:06}.parquet"
        pyarrow.parquet.write_table(many, path, row_group_size=drivescope.tables.BATCH_ROWS)
    return folder


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def load(folder: Path) -> None:
    begun = time.perf_counter()
    run = drivescope.load(folder)
    loaded = (time.perf_counter() - begun, memory_mb())
    rows = total = 0
    for batch in run.batches("intervals", ["bytes"]):
        rows += batch.num_rows
        total += sum_of(batch.column("bytes"))
    assert rows == INTERVALS and total > 0, (rows, total)
    print(*loaded, time.perf_counter() - begun, memory_mb())


def sum_of(column):
    import pyarrow.compute

    return pyarrow.compute.sum(column).as_py() or 0


if sys.argv[1] == "make":
    print(make())
else:
    load(Path(sys.argv[2]))
