"""Reads the tables in a folder with Spark."""
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
for name, rows in [("runs", 1), ("phases", 1), ("intervals", 3)]:
    columns = spark.read.parquet(f"{sys.argv[1]}/{name}.parquet")
    text = spark.read.csv(f"{sys.argv[1]}/{name}.csv", header=True, inferSchema=True, quote='"', escape='"')
    assert columns.count() == text.count() == rows, name
    assert columns.columns == text.columns, name
    assert {kind for _, kind in columns.dtypes} <= {"bigint", "double", "boolean", "string"}, columns.dtypes
total = spark.read.parquet(f"{sys.argv[1]}/intervals.parquet").agg({"bytes": "sum"}).first()[0]
assert total == 3 * 8192, total
print("read")
