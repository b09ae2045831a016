"""The same questions give the same answers from object storage and on Spark."""

from __future__ import annotations

import os
import shutil
from urllib.parse import quote

import boto3
import pandas as pd
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer

from drivescope.fleet import Lake
from drivescope.fleet.answers import QUESTIONS, answer
from drivescope.fleet.engine import Engine


@pytest.fixture
def lake(small_fleet) -> Lake:
    return Lake.open(small_fleet)


@pytest.fixture
def endpoint(monkeypatch) -> str:
    """The address of moto's S3 server, in a thread of this process."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


def test_object_storage_answers_like_a_folder(lake, endpoint):
    boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1").create_bucket(Bucket="fleet")
    remote = Lake.open(f"s3://fleet/lake?endpoint_override={quote(endpoint, safe='')}&region=us-east-1", create=True)
    for path in lake.files()[:40]:
        rows = pq.read_table(path, partitioning=None)
        assert remote.write(rows).added == rows.num_rows
        assert remote.write(rows).known == rows.num_rows
    before, after = remote.compact()
    assert before == after == 40 and remote.verify() == []
    local = [sum(pq.read_table(path, columns=["seconds"], partitioning=None).num_rows for path in lake.files()[:40])]
    assert [Engine.open(remote).runs.count().execute()] == local
    assert len(answer(Engine.open(remote), "latency")) >= 5


@pytest.mark.skipif(shutil.which("java") is None, reason="no java for Spark; Debian: default-jre-headless")
def test_spark_answers_like_duckdb(lake):
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    duckdb, spark = Engine.open(lake), Engine.open(lake, "spark")
    for question in QUESTIONS:
        ours, theirs = answer(duckdb, question), answer(spark, question)
        tolerance = 1e-6
        if question == "effects":
            # The optimiser stops where its numerical gradient does: rounding of the sums moves it that far.
            tolerance = 1e-4
        pd.testing.assert_frame_equal(ours, theirs, check_dtype=False, rtol=tolerance, atol=tolerance, obj=question)
