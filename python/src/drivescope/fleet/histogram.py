"""Buckets of latency: what a bucket number means, and how the bytes of a store become a list of them."""

from __future__ import annotations

from typing import Iterable, Sequence

import numpy as np

from .schema import BUCKET_COUNT, BUCKETS_PER_OCTAVE

COUNT_MAX = 2**53


def bucket_of(latency_ns: np.ndarray) -> np.ndarray:
    """The bucket of each latency: one per value below 256 ns, above 128 of equal width per power of two."""
    value = np.maximum(np.asarray(latency_ns, dtype=np.int64), 0)
    octave = np.frexp(np.maximum(value, BUCKETS_PER_OCTAVE).astype(np.float64))[1] - 8
    bucket: np.ndarray = (octave * BUCKETS_PER_OCTAVE + (value >> octave)).astype(np.int32)
    return bucket


def bucket_middle_ns(bucket: np.ndarray) -> np.ndarray:
    """The middle of each bucket, at most 0.4 % off the latencies counted there."""
    bucket = np.asarray(bucket, dtype=np.int64)
    octave = np.maximum(bucket // BUCKETS_PER_OCTAVE - 1, 0)
    first = (bucket - octave * BUCKETS_PER_OCTAVE).astype(np.float64) * np.exp2(octave)
    middle: np.ndarray = first + np.floor((np.exp2(octave) - 1) / 2)
    return middle


def quantile_ns(buckets: Sequence[int], counts: Sequence[int], share: float) -> float:
    """The latency that the share `share` of the requests does not exceed, of merged buckets in any order."""
    order = np.argsort(np.asarray(buckets))
    cumulated = np.cumsum(np.asarray(counts)[order])
    if len(cumulated) == 0 or cumulated[-1] <= 0:
        return float("nan")
    rank = max(1, int(np.ceil(share * cumulated[-1])))
    return float(bucket_middle_ns(np.asarray(buckets)[order][np.searchsorted(cumulated, rank)]))


def decode_cells(cells: bytes) -> list[tuple[int, int]]:
    """Pairs of bucket and count from the column `cells` of a store; ValueError when they are damaged."""
    numbers = list(_varints(cells))
    if len(numbers) % 2 == 1:
        raise ValueError("a histogram ends inside a pair of bucket and count")
    pairs, bucket = [], 0
    for step, count in zip(numbers[::2], numbers[1::2]):
        bucket += step
        if bucket >= BUCKET_COUNT or not 0 <= count <= COUNT_MAX:
            raise ValueError(f"a histogram has bucket {bucket} with count {count}, past what the program writes")
        pairs.append((bucket, count))
    return pairs


def _varints(data: bytes) -> Iterable[int]:
    value, shift = 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            yield value
            value, shift = 0, 0
        elif shift > 63:
            raise ValueError("a histogram has a number of more than 64 bits")
    if shift > 0:
        raise ValueError("a histogram ends inside a number")
