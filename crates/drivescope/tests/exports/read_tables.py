"""Reads the exports in a folder with what people read them with, and compares them with each other and with what was kept."""
import csv
import json
import sys
from pathlib import Path

import duckdb
import pandas
import pyarrow.parquet
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics
from prometheus_client.parser import text_string_to_metric_families as prometheus

folder = Path(sys.argv[1])
model = json.loads(sys.argv[2])
FORBIDDEN = {"op", "count", "schema", "type"}

for name in ["runs", "findings", "phases", "intervals"]:
    text, columns = folder / f"{name}.csv", folder / f"{name}.parquet"
    schema = pyarrow.parquet.read_schema(columns)
    assert schema.metadata[b"drivescope.schema"] == b"drivescope.tables/1"
    assert not FORBIDDEN & set(schema.names), schema.names
    assert {str(field.type) for field in schema} <= {"int64", "double", "bool", "string"}, schema
    with open(text, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, strict=True))
    lines = text.read_bytes().split(b"\r\n")
    assert lines[-1] == b"" and len(lines) - 1 == len(rows), "a row is a line"
    frames = [
        pandas.read_csv(text),
        pandas.read_parquet(columns),
        duckdb.sql(f"SELECT * FROM read_csv('{text}')").df(),
        duckdb.sql(f"SELECT * FROM '{columns}'").df(),
    ]
    for frame in frames:
        assert list(frame.columns) == rows[0] == schema.names, name
        assert len(frame) == len(rows) - 1, name

runs = pandas.read_parquet(folder / "runs.parquet")
assert set(runs["model"]) == {model}, "Parquet keeps a text as it is"
with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
    shown = next(csv.DictReader(file))["model"]
assert shown.startswith("'=") and "\\u{1b}" in shown and "\n" not in shown, shown

intervals = pandas.read_parquet(folder / "intervals.parquet")
assert intervals["bytes"].sum() == 3 * 8192 and intervals["latency_ns_min"].isna().sum() == 1
assert list(intervals["latency_ns_p99"].dropna()) == [111, 112]
slowest = duckdb.sql(f"SELECT max(latency_ns_max) FROM '{folder / 'intervals.csv'}'").fetchall()
assert slowest == [(122,)], slowest

metrics = (folder / "drivescope.prom").read_text(encoding="utf-8")
families = {family.name: family for family in openmetrics(metrics)}
assert families.keys() == {family.name for family in prometheus(metrics)}
complete = families["drivescope_run_complete"].samples[0]
assert complete.value == 1 and complete.labels["serial"] == "S-1", complete
assert complete.labels["model"].startswith("=HYPERLINK"), complete
print("read")
