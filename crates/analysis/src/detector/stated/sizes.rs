//! Throughput by block size, where a program swept it.

use super::super::trust::doubts;
use crate::stated::{Stated, stated};
use model::finding::{Finding, NEARLY, Outcome, SizePattern, SizePoint, SizeProfile, SizeSaturation};
use model::request::Operation;
use model::run::RunView;
use model::units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

const SIZES_MIN: usize = 3;

/// What differs by nothing but the size: operation, order, and requests in flight.
type Series = (Operation, SizePattern, u64);

pub(in super::super) fn sizes(run: &RunView<'_>) -> Vec<Finding> {
    let mut series: BTreeMap<Series, BTreeMap<Bytes, Stated<'_>>> = BTreeMap::new();
    for figure in stated(run) {
        let ([operation], shape) = (figure.workload.mix.operations(), figure.shape()) else { continue };
        if !figure.is_byte_by_byte() {
            let pattern = if shape.in_order { SizePattern::Sequential } else { SizePattern::Random };
            series.entry((*operation, pattern, shape.at_once)).or_default().insert(shape.block, figure);
        }
    }
    series.retain(|_, sizes| sizes.len() >= SIZES_MIN);
    if series.is_empty() {
        return Vec::new();
    }
    let (mut points, mut saturation, mut evidence) = (Vec::new(), Vec::new(), Vec::new());
    let mut sizes = BTreeSet::new();
    for (key, figures) in &series {
        saturation.push(saturation_of(*key, figures));
        for (size, figure) in figures {
            sizes.insert(*size);
            points.push(point(*key, *size, figure));
            evidence.push(figure.evidence());
        }
    }
    let profile = SizeProfile { sizes: sizes.len(), points, saturation, is_single: true };
    vec![Finding::SizeProfile(Outcome::known(profile, evidence)).with_caveats(&doubts(run))]
}

fn bytes_per_second(figure: &Stated<'_>) -> f64 {
    1.0 / figure.seconds_per_byte()
}

fn saturation_of(
    (operation, pattern, depth): Series,
    figures: &BTreeMap<Bytes, Stated<'_>>,
) -> SizeSaturation {
    let best = figures.values().map(bytes_per_second).fold(0.0, f64::max);
    let (mut from, mut dips) = (None, Vec::new());
    for (size, figure) in figures {
        if bytes_per_second(figure) >= NEARLY * best {
            from = from.or(Some(*size));
        } else if from.is_some() {
            dips.push(*size);
        }
    }
    SizeSaturation { operation, pattern, depth, best, from, dips }
}

fn point((operation, pattern, depth): Series, bytes: Bytes, figure: &Stated<'_>) -> SizePoint {
    SizePoint {
        bytes,
        operation,
        pattern,
        depth,
        bytes_per_second: bytes_per_second(figure),
        low: None,
        high: None,
        iops: figure.per_second(),
        rounds: None,
    }
}
