"""The lake as an Ibis table, on DuckDB or Spark. Every question is one expression that both run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, TypeVar, cast

import ibis
import pyarrow.dataset as pads

from . import schema
from .lake import Lake, LakeError

DUCKDB = "duckdb"
SPARK = "spark"

Known = TypeVar("Known")


@dataclass
class Engine:
    """A connection and the table `runs` of a lake in it."""

    connection: Any
    runs: ibis.Table
    # What several questions begin with, and what was answered.
    known: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, make: Callable[[], Known]) -> Known:
        """The thing of this name, made when it is first asked for. Who changes a table copies it."""
        if name not in self.known:
            self.known[name] = make()
        return cast(Known, self.known[name])

    @classmethod
    def open(cls, lake: Lake, name: str = DUCKDB, memory: str = "3GB") -> Engine:
        files = lake.files()
        if not files:
            raise LakeError(f"cannot ask lake {lake.root}: it has no runs. Add some: python -m drivescope.fleet push --lake LAKE")
        if name == DUCKDB:
            return _duckdb(lake, files, memory)
        if name == SPARK:
            return _spark(lake, files)
        raise LakeError(f"unknown engine {name}: duckdb or spark")


def _duckdb(lake: Lake, files: list[str], memory: str) -> Engine:
    connection = ibis.duckdb.connect()
    connection.raw_sql(f"SET memory_limit = '{memory}'; SET preserve_insertion_order = false; SET TimeZone = 'UTC'")
    connection.raw_sql("SET enable_progress_bar = false")
    if lake.is_local:
        listed = ", ".join("'" + path.replace("'", "''") + "'" for path in files)
        types = "hive_partitioning = true, hive_types = {'date': DATE, 'drive_model': VARCHAR}"
        connection.raw_sql(f"CREATE TEMP VIEW runs AS SELECT * FROM read_parquet([{listed}], {types})")
        return Engine(connection, connection.table("runs"))
    partitioning = pads.partitioning(flavor="hive", schema=schema.PARTITION)
    dataset = pads.dataset(files, filesystem=lake.filesystem, format="parquet", partitioning=partitioning)
    connection.con.register("runs", dataset)
    return Engine(connection, connection.table("runs"))


def _spark(lake: Lake, files: list[str]) -> Engine:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise LakeError("cannot start Spark: pyspark is not installed. Install it: pip install 'drivescope[spark]' (Java 17)")
    if not lake.is_local:
        raise LakeError("cannot read object storage with this Spark session. Use --engine duckdb, or a copy of the lake.")
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # A job to list some hundred files takes longer than listing them.
        .config("spark.sql.sources.parallelPartitionDiscovery.threshold", "100000")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "8")
        .config("spark.driver.memory", "3g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    session.read.option("basePath", f"{lake.root}/runs").parquet(*files).createOrReplaceTempView("runs")
    connection = ibis.pyspark.connect(session)
    return Engine(connection, connection.table("runs"))
