"""Conclusions of a run, as dataclasses: a value with its confidence interval, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping, Optional, Union


@dataclass(frozen=True)
class Interval:
    """A confidence interval in the unit of its finding. An end that is not known is None."""

    low: Optional[float]
    high: Optional[float]
    #: Confidence level, 0.95 unless the program says otherwise.
    confidence: float

    def __contains__(self, value: float) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)


@dataclass(frozen=True)
class Evidence:
    """The part of the run that a finding rests on."""

    #: Number of the phase, from 0: an index of :attr:`Run.phase_names <drivescope.Run.phase_names>`.
    phase: int
    #: Seconds since the start of the run's clock.
    start_s: float
    seconds: float


@dataclass(frozen=True)
class Finding:
    """One conclusion, such as ``read-rate-outer``. Either ``value`` or ``unknown`` is set."""

    #: Stable name. ``drivescope sim truth NAME`` lists most of them.
    code: str
    #: In the base unit of ``unit``, or a word such as ``smr``. None when inconclusive.
    value: Union[float, str, None]
    #: ``B/s``, ``s``, ``bytes``, ``ratio``, ``1/s``, ``count``; None for words.
    unit: Optional[str]
    #: None for words and for exact values.
    interval: Optional[Interval]
    #: Effective sample size; None for exact values.
    effective_count: Optional[float]
    #: Why there is no value.
    unknown: Optional[str]
    #: A sentence for people; it may change between versions.
    statement: Optional[str]
    advice: Optional[str]
    evidence: tuple[Evidence, ...] = ()
    #: Details, by code.
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_known(self) -> bool:
        """Whether it has a value."""
        return self.unknown is None

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Finding:
        """From an entry of ``findings`` in a ``drivescope.run/1`` document. Keys it does not know are passed over."""
        confidence = document.get("confidence")
        interval = None
        if confidence is not None:
            interval = Interval(document.get("low"), document.get("high"), confidence)
        evidence = tuple(
            Evidence(part["phase"], part["start_s"], part["seconds"]) for part in document.get("evidence") or ()
        )
        return cls(
            code=document["code"],
            value=document.get("value"),
            unit=document.get("unit"),
            interval=interval,
            effective_count=document.get("effective_count"),
            unknown=document.get("unknown"),
            statement=document.get("statement"),
            advice=document.get("advice"),
            evidence=evidence,
            data=document.get("data") or {},
        )
