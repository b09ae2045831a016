//! Clumps: sound places that lie so near to each other that they may share a surface, joined and weighted.
//!
//! What makes visits differ is mostly the surface, and a surface holds 80 to 200 MB in a row (8thway 2013; WD's model). Visits
//! nearer than that are alike, so that many of them are worth little more than one.

use super::noise::Noise;
use super::sorting::{Sorting, Verdict};
use super::visit::Visit;
use crate::stats::mean::squares_about;
use model::range::ByteRange;
use std::ops::Range;

/// How far apart visits are independent: the longest stretch on one surface that was found.
const APART_BYTES: f64 = 200e6;
/// On a small target, no more than this share of the range.
const APART_SHARE: f64 = 1e-3;
/// What is further off counts as that far: a lost turn makes a visit of tens of milliseconds a tenth slower, and is no zone.
const CLIP_DEVIATIONS: f64 = 3.0;

#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub centre: f64,
    pub value: f64,
    /// The same, clipped to near the level around it.
    pub clipped: f64,
    pub seconds_per_byte: f64,
    /// One over the variance, so that the weights of a clump add up to one over the variance of its mean.
    pub weight: f64,
    /// How many independent visits it is worth, at most 1.
    pub share: f64,
}

pub(super) struct Clumps {
    pub points: Vec<Point>,
    pub clumps: Vec<Range<usize>>,
    /// The variance of a single visit's logarithm, after clipping.
    pub variance: f64,
}

impl Clumps {
    pub(super) fn of(range: ByteRange, visits: &[Visit], sorting: &Sorting, noise: &Noise) -> Clumps {
        let limit = CLIP_DEVIATIONS * noise.visit;
        let (mut points, mut residuals) = (Vec::new(), Vec::new());
        for (number, place) in sorting.places.iter().enumerate() {
            if sorting.verdicts[number] != Verdict::Sound {
                continue;
            }
            let seconds_per_byte = sorting.seconds_per_byte(place, visits);
            let local = noise.local[number];
            let value = seconds_per_byte.ln();
            let residual = (value - local).clamp(-limit, limit);
            residuals.push(residual);
            points.push(Point {
                centre: place.centre,
                value,
                clipped: local + residual,
                seconds_per_byte,
                weight: 1.0,
                share: 1.0,
            });
        }
        let apart = APART_BYTES.min(range.bytes().as_f64() * APART_SHARE);
        let clumps = cut(&points, apart);
        let squares = residuals.iter().map(|residual| residual * residual).sum::<f64>();
        let floor = super::noise::NOISE_MIN * super::noise::NOISE_MIN;
        let variance = (squares / residuals.len().max(1) as f64).max(floor);
        let within = within(&residuals, &clumps).clamp(0.0, variance);
        for clump in &clumps {
            let count = clump.len() as f64;
            let weight = 1.0 / (variance - within + within / count).max(floor / count) / count;
            for point in &mut points[clump.clone()] {
                point.weight = weight;
                point.share = (weight * variance).min(1.0);
            }
        }
        Clumps { points, clumps, variance }
    }
}

/// A clump is what lies within `apart` of its first place.
fn cut(points: &[Point], apart: f64) -> Vec<Range<usize>> {
    let mut clumps: Vec<Range<usize>> = Vec::new();
    for (index, point) in points.iter().enumerate() {
        match clumps.last_mut() {
            Some(clump) if point.centre - points[clump.start].centre < apart => clump.end = index + 1,
            _ => clumps.push(index..index + 1),
        }
    }
    clumps
}

/// The variance within clumps; 0 where there are too few pairs to tell, as if all in a clump were alike.
fn within(residuals: &[f64], clumps: &[Range<usize>]) -> f64 {
    const FREE_MIN: usize = 20;
    let (mut squares, mut free) = (0.0, 0);
    for clump in clumps {
        let residuals = &residuals[clump.clone()];
        let mean = residuals.iter().sum::<f64>() / clump.len() as f64;
        squares += squares_about(mean, residuals);
        free += clump.len() - 1;
    }
    if free < FREE_MIN { 0.0 } else { squares / free as f64 }
}
