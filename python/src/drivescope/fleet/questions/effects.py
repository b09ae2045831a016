"""What do firmware, racks, hosts, enclosures and slots do to throughput?

A linear mixed model of each drive's log throughput: model, firmware and slot position are fixed; rack, host and enclosure
are random; the rest is the drive. Variances maximise the restricted likelihood (REML) through Henderson's mixed model
equations, sparse, because statsmodels' MixedLM needs a dense matrix of all hosts; on small fleets the tests hold it against MixedLM.
Outliers are left out first: a mixed model believes in normal distributions, slow drives do not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, sparse, stats
from scipy.sparse import linalg

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
    factors = [_indicator(rows[name].astype("string").fillna("")) for name in RANDOM]
    usable = [1 < z.shape[1] < len(rows) for z in factors]
    z = [factor for factor, use in zip(factors, usable) if use]
    y = rows["level"].to_numpy() - rows["level"].mean()
    problem = _Equations(sparse.csr_matrix(x), z, y)
    if z:
        start = np.full(len(z), np.log(0.2))
        # Steps this wide: rounding of the deviance would drown the differences over narrow ones.
        options = {"maxiter": 60, "ftol": 1e-14, "gtol": 1e-6, "finite_diff_rel_step": 1e-4}
        best = optimize.minimize(problem.deviance, start, method="L-BFGS-B", jac="3-point", bounds=[(-12, 4)] * len(z), options=options)
        ratios = np.exp(best.x)
    else:
        ratios = np.array([])
    solution = problem.solve(ratios)
    deviations = dict(zip([name for name, use in zip(RANDOM, usable) if use], np.sqrt(ratios * solution.sigma2)))
    deviations["drive"] = np.sqrt(solution.sigma2)
    total = sum(value**2 for value in deviations.values())
    variance = pd.DataFrame(
        [(name, value, value**2 / total) for name, value in deviations.items()], columns=["factor", "deviation", "share"]
    )
    return Effects(_table(names, solution), variance)


def _fixed(rows: pd.DataFrame) -> tuple[sparse.spmatrix, list[tuple[str, str]]]:
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


def _indicator(values: pd.Series) -> sparse.csr_matrix:
    code, levels = pd.factorize(values, sort=True)
    return sparse.csr_matrix((np.ones(len(code)), (np.arange(len(code)), code)), shape=(len(code), len(levels)))


@dataclass
class _Solution:
    beta: np.ndarray
    covariance: np.ndarray
    sigma2: float


class _Equations:
    """Henderson's equations for given ratios of each factor's variance to that of the rest."""

    def __init__(self, x: sparse.csr_matrix, z: list[sparse.csr_matrix], y: np.ndarray):
        # Random effects first: eliminating them one by one leaves a small dense rest, the fixed effects.
        self.w = sparse.hstack([*reversed(z), x]).tocsr()
        self.cross = (self.w.T @ self.w).tocsc()
        self.right = self.w.T @ y
        self.y2 = float(y @ y)
        self.levels = [factor.shape[1] for factor in reversed(z)]
        self.n, self.p = len(y), x.shape[1]

    def _factor(self, ratios: np.ndarray) -> linalg.SuperLU:
        penalty = [np.full(levels, 1 / ratio) for levels, ratio in zip(self.levels, reversed(ratios))]
        diagonal = np.concatenate([*penalty, np.full(self.p, 1e-10)])
        return linalg.splu(self.cross + sparse.diags(diagonal, format="csc"), permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})

    def deviance(self, logs: np.ndarray) -> float:
        """Minus twice the restricted log-likelihood, the residual variance profiled out."""
        ratios = np.exp(logs)
        factor = self._factor(ratios)
        rest = self.y2 - self.right @ factor.solve(self.right)
        sigma2 = rest / (self.n - self.p)
        log_determinant = np.log(np.abs(factor.U.diagonal())).sum()
        log_penalty = sum(levels * log for levels, log in zip(self.levels, reversed(logs)))
        return float((self.n - self.p) * np.log(sigma2) + log_determinant + log_penalty)

    def solve(self, ratios: np.ndarray) -> _Solution:
        factor = self._factor(ratios)
        solution = factor.solve(self.right)
        sigma2 = (self.y2 - self.right @ solution) / (self.n - self.p)
        size = self.w.shape[1]
        unit = np.zeros((size, self.p))
        unit[size - self.p :, :] = np.eye(self.p)
        covariance = factor.solve(unit)[size - self.p :, :] * sigma2
        return _Solution(solution[size - self.p :], covariance, float(sigma2))


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
    frame["high"] = np.expm1(frame["log"] + 1.96 * error)
    frame["p"] = 2 * stats.norm.sf(np.abs(frame["log"]) / error)
    # Holm (1979): the chance of one false effect in the whole list is at most 5 %.
    order = np.argsort(frame["p"].to_numpy())
    adjusted = np.maximum.accumulate(frame["p"].to_numpy()[order] * (len(frame) - np.arange(len(frame))))
    frame.loc[frame.index[order], "p_adjusted"] = np.minimum(adjusted, 1.0)
    frame["is_significant"] = frame["p_adjusted"] < 0.05
    return frame.drop(columns=["log", "variance"]).sort_values("effect", ignore_index=True)
