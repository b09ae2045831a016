"""What do firmware, racks, hosts, enclosures and slots do to throughput?

A linear mixed model of each drive's log throughput: model, firmware and slot position are fixed; rack, host and enclosure
are random, each nested in the one before; the rest is the drive. Variances maximise the restricted likelihood (REML) through
Henderson's mixed model equations. statsmodels' MixedLM needs a dense matrix of all hosts; the tests hold small fleets against it.
Outliers are left out first: a mixed model believes in normal distributions, slow drives do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, stats

from ..engine import Engine
from ..figures import by_place
from .outliers import RUNS_MIN, polish, upper_scale

RANDOM = ("rack", "host", "enclosure")
OUTLIER_DEVIATIONS = 4.0


NUMBERS = ("effect", "low", "high", "p", "p_adjusted")
FIXED_TYPES = {"factor": "object", "level": "object", **dict.fromkeys(NUMBERS, "float64"), "is_significant": "bool"}


@dataclass
class Effects:
    """Fixed effects as shares with intervals, and the standard deviation that each random factor adds."""

    fixed: pd.DataFrame
    variance: pd.DataFrame


def effects(engine: Engine, code: str = "read-rate-outer") -> Effects:
    return engine.once(f"effects {code}", lambda: _effects(by_place(engine, code)))


def _effects(places: pd.DataFrame) -> Effects:
    places = places[places["n_recent"] >= RUNS_MIN].reset_index(drop=True)
    places["level"] = places["y_recent"] / places["n_recent"]
    residual, _ = polish(places)
    rows = places[np.abs(residual) < OUTLIER_DEVIATIONS * upper_scale(residual)].reset_index(drop=True)
    return fit(rows)


def fit(rows: pd.DataFrame) -> Effects:
    """Fits `level`; firmware is compared with the first of its model, slots with the mean of all."""
    x, names = _fixed(rows)
    if len(rows) <= len(names):
        # Fewer drives than effects: nothing can be told apart.
        fixed = pd.DataFrame(columns=list(FIXED_TYPES)).astype(FIXED_TYPES)
        return Effects(fixed, pd.DataFrame(columns=["factor", "deviation", "share"]))
    usable = _nested(rows)
    y = rows["level"].to_numpy() - rows["level"].mean()
    problem = _Equations(x, y, list(usable.values()))
    if usable:
        start = np.full(len(usable), np.log(0.2))
        # Steps this wide: rounding of the deviance would drown the differences over narrow ones.
        options = {"maxiter": 60, "ftol": 1e-14, "gtol": 1e-6, "finite_diff_rel_step": 1e-4}
        best = optimize.minimize(problem.deviance, start, method="L-BFGS-B", jac="3-point", bounds=[(-12, 4)] * len(usable), options=options)
        ratios = np.exp(best.x)
    else:
        ratios = np.array([])
    solution = problem.solve(ratios)
    deviations = dict(zip(usable, np.sqrt(ratios * solution.sigma2)))
    deviations["drive"] = np.sqrt(solution.sigma2)
    total = sum(value**2 for value in deviations.values())
    variance = pd.DataFrame(
        [(name, value, value**2 / total) for name, value in deviations.items()], columns=["factor", "deviation", "share"]
    )
    return Effects(_table(names, solution), variance)


def _fixed(rows: pd.DataFrame) -> tuple[np.ndarray, list[tuple[str, str]]]:
    """Columns of the fixed effects. Slot positions sum to zero, so that they are deviations from the mean slot."""
    columns, names = [], []
    for model, part in rows.groupby(rows["model"].fillna(""), sort=True):
        columns.append(_column(len(rows), part.index))
        names.append(("model", str(model)))
        versions = sorted(part["firmware"].fillna("").unique())
        for version in versions[1:]:
            columns.append(_column(len(rows), part.index[part["firmware"].fillna("") == version]))
            names.append(("firmware", f"{model} {version} against {versions[0]}"))
    slots = sorted(rows["slot"].dropna().unique())
    for slot in slots[1:]:
        column = _column(len(rows), rows.index[rows["slot"] == slot])
        column[rows.index[rows["slot"] == slots[0]]] = -1.0
        columns.append(column)
        names.append(("slot", f"slot {int(slot)}"))
    return np.column_stack(columns) if columns else np.zeros((len(rows), 0)), names


def _column(length: int, index: pd.Index) -> np.ndarray:
    column = np.zeros(length)
    column[index] = 1.0
    return column


def _nested(rows: pd.DataFrame) -> dict[str, np.ndarray]:
    """The group of each row by random factor, coarse to fine, where a factor divides the groups of the one before but not into single drives."""
    result: dict[str, np.ndarray] = {}
    levels = 1
    for depth, name in enumerate(RANDOM, 1):
        group = rows.groupby([rows[factor].fillna("") for factor in RANDOM[:depth]], sort=True).ngroup().to_numpy()
        if levels < group.max() + 1 < len(rows):
            levels = int(group.max()) + 1
            result[name] = group
    return result


@dataclass
class _Solution:
    beta: np.ndarray
    covariance: np.ndarray
    sigma2: float


class _Equations:
    """Henderson's equations for given ratios of each factor's variance to that of the rest.

    Groups of the finest factor have no drive in common, so their effects are eliminated by a division each. What that leaves of a group
    weighs in its parent as fewer drives would, so the next factor is eliminated in the same way, down to the fixed effects.
    """

    def __init__(self, x: np.ndarray, y: np.ndarray, groups: list[np.ndarray]):
        self.n, self.p = x.shape
        columns = np.column_stack([x, y])
        self.cross = columns.T @ columns
        # Effects that no drive tells apart, such as slots with a model each, get a wide interval. Rounding alone leaves 1e-16 of the drives.
        self.cross[range(self.p), range(self.p)] += 1e-12 * self.n
        finest = groups[-1] if groups else np.zeros(0, dtype=np.int64)
        self.sizes = np.bincount(finest).astype(float)
        self.sums = _summed(finest, columns)
        self.parents = []
        for fine, coarse in zip(reversed(groups), [*reversed(groups[:-1]), None]):
            parent = np.zeros(fine.max() + 1, dtype=np.int64)
            if coarse is not None:
                parent[fine] = coarse
            self.parents.append(parent)

    def _eliminated(self, ratios: np.ndarray) -> tuple[np.ndarray, float]:
        """Cross products of fixed effects and `y` without the random effects, and the logarithm of the determinant of those."""
        cross, log_determinant = self.cross.copy(), 0.0
        sizes, sums = self.sizes, self.sums
        for parent, ratio in zip(self.parents, reversed(ratios)):
            diagonal = sizes + 1 / ratio
            cross -= (sums / diagonal[:, None]).T @ sums
            log_determinant += np.log(diagonal).sum() + len(diagonal) * np.log(ratio)
            left = 1 / (ratio * diagonal)
            sizes, sums = np.bincount(parent, weights=sizes * left), _summed(parent, sums * left[:, None])
        return cross, float(log_determinant)

    def deviance(self, logs: np.ndarray) -> float:
        """Minus twice the restricted log-likelihood, the residual variance profiled out."""
        cross, log_determinant = self._eliminated(np.exp(logs))
        solution = self._solved(cross)
        return float((self.n - self.p) * np.log(solution.sigma2) + log_determinant + np.linalg.slogdet(cross[:-1, :-1])[1])

    def solve(self, ratios: np.ndarray) -> _Solution:
        return self._solved(self._eliminated(ratios)[0])

    def _solved(self, cross: np.ndarray) -> _Solution:
        inverse = np.linalg.inv(cross[:-1, :-1])
        beta = inverse @ cross[:-1, -1]
        sigma2 = float((cross[-1, -1] - cross[:-1, -1] @ beta) / (self.n - self.p))
        return _Solution(beta, inverse * sigma2, sigma2)


def _summed(group: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The sum of each column by group."""
    return np.column_stack([np.bincount(group, weights=column) for column in columns.T])


def _table(names: list[tuple[str, str]], solution: _Solution) -> pd.DataFrame:
    beta, covariance = solution.beta, solution.covariance
    rows = [(kind, name, beta[i], covariance[i, i]) for i, (kind, name) in enumerate(names) if kind != "model"]
    slot = [i for i, (kind, _) in enumerate(names) if kind == "slot"]
    if slot:
        # The first slot is minus the sum of the others.
        rows.append(("slot", "first slot", -beta[slot].sum(), covariance[np.ix_(slot, slot)].sum()))
    frame = pd.DataFrame(rows, columns=["factor", "level", "log", "variance"])
    error = np.sqrt(frame["variance"])
    frame["effect"] = np.expm1(frame["log"])
    frame["low"] = np.expm1(frame["log"] - 1.96 * error)
    # The interval of an effect that no drive tells apart has no upper end.
    with np.errstate(over="ignore"):
        frame["high"] = np.expm1(frame["log"] + 1.96 * error)
    frame["p"] = 2 * stats.norm.sf(np.abs(frame["log"]) / error)
    # Holm (1979): the chance of one false effect in the whole list is at most 5 %.
    order = np.argsort(frame["p"].to_numpy())
    adjusted = np.maximum.accumulate(frame["p"].to_numpy()[order] * (len(frame) - np.arange(len(frame))))
    frame.loc[frame.index[order], "p_adjusted"] = np.minimum(adjusted, 1.0)
    frame["is_significant"] = frame["p_adjusted"] < 0.05
    return frame.drop(columns=["log", "variance"]).sort_values("effect", ignore_index=True)
