//! Scores the map of the surface against the truth of random hard disks.

mod bench;

use analysis::surface::SurfaceMap;
use bench::Bench;
use model::finding::{Datum, FindingCode};
use model::request::Operation;
use model::workload::OperationMix;

fn truth_zones(name: &str) -> Option<(f64, f64, f64, Vec<(u64, u64, f64)>)> {
    let truths = sim::truth::truth(name).unwrap();
    let value = |code| truths.iter().find(|truth| truth.code == code).and_then(|truth| truth.value());
    let table = truths.iter().find(|truth| truth.code == FindingCode::ZoneTable)?;
    let Datum::List(rows) = &table.data[0].1 else { panic!() };
    let rows = rows
        .iter()
        .map(|row| {
            let Datum::Record(parts) = row else { panic!() };
            let [(_, Datum::Integer(first)), (_, Datum::Integer(bytes)), (_, Datum::Number(rate))] =
                parts.as_slice()
            else {
                panic!()
            };
            (*first, *bytes, *rate)
        })
        .collect();
    Some((
        value(FindingCode::ReadRateOuter)?,
        value(FindingCode::ReadRateInner)?,
        value(FindingCode::FullPassTime)?,
        rows,
    ))
}

#[test]
#[ignore]
fn explore() {
    let disks: u64 = std::env::var("DISKS").map_or(10, |v| v.parse().unwrap());
    let from: u64 = std::env::var("FROM").map_or(0, |v| v.parse().unwrap());
    let spread: u64 = std::env::var("SPREAD").map_or(800, |v| v.parse().unwrap());
    let edge: u64 = std::env::var("EDGE").map_or(60, |v| v.parse().unwrap());
    let rounds: usize = std::env::var("ROUNDS").map_or(0, |v| v.parse().unwrap());
    let (mut c, mut n) = ([0, 0, 0], 0);
    let mut signed = [0.0; 3];
    let mut z = [Vec::new(), Vec::new(), Vec::new()];
    let mut errs = [Vec::new(), Vec::new(), Vec::new()];
    let (mut big, mut hit, mut ratebad, mut cov_border, mut n_border, mut false_steps, mut n_levels) =
        (0, 0, 0, 0, 0, 0, 0);
    for seed in from..from + disks {
        let name = format!("random-hard-disk-{seed}");
        let Some((outer, inner, pass, zones)) = truth_zones(&name) else { continue };
        let mut bench = Bench::new(sim::open(&name, seed + 1).unwrap(), seed + 2);
        let t0 = std::time::Instant::now();
        bench.surface(bench.whole(), OperationMix::Read, spread, edge, rounds);
        let t_sim = t0.elapsed();
        let t0 = std::time::Instant::now();
        let map = SurfaceMap::of(&bench.view(), Operation::Read).unwrap();
        let t_map = t0.elapsed();
        let device_s: f64 = bench.phases.iter().map(|p| p.duration_ns as f64 / 1e9).sum();
        let got = [map.edge(true).unwrap(), map.edge(false).unwrap(), map.pass_time().unwrap()];
        for (k, t) in [1.0 / outer, 1.0 / inner, pass].into_iter().enumerate() {
            c[k] += u32::from(got[k].covers(t));
            errs[k].push((got[k].value / t - 1.0).abs());
            signed[k] += got[k].value / t - 1.0;
            z[k].push((got[k].value - t) / ((got[k].high - got[k].low) / 2.0 / 1.96));
            if k == 2 && !got[k].covers(t) && disks <= 100 {
                println!(
                    "{seed} pass off {:.3} % half {:.3} % n {}",
                    100.0 * (got[k].value / t - 1.0),
                    100.0 * got[k].relative_half_width(),
                    map.visits.len()
                );
            }
        }
        n += 1;
        let cap = map.range.bytes().0 as f64;
        let (mut b, mut h) = (0, 0);
        for pair in zones.windows(2) {
            let step = pair[0].2 / pair[1].2 - 1.0;
            if step.abs() > 0.02 {
                b += 1;
                let at = pair[1].0;
                let near =
                    map.levels.iter().skip(1).find(|l| l.first_byte.abs_diff(at) as f64 <= 0.005 * cap);
                h += i32::from(near.is_some());
                if let Some(l) =
                    map.levels.iter().skip(1).find(|l| l.first_byte.abs_diff(at) as f64 <= 0.01 * cap)
                {
                    n_border += 1;
                    cov_border += i32::from(l.border_low <= at && at <= l.border_high);
                }
            }
        }
        // Rate at each place within 1 %?
        for level in &map.levels {
            n_levels += 1;
            let mid = level.first_byte + level.bytes / 2;
            let z = zones.iter().rev().find(|z| z.0 <= mid).unwrap();
            ratebad += i32::from((level.seconds_per_byte.value * z.2 - 1.0).abs() > 0.01);
        }
        for l in map.levels.iter().skip(1) {
            let w = 0.02 * cap;
            if !zones.iter().skip(1).any(|z| (z.0 as f64 - l.first_byte as f64).abs() < w) {
                false_steps += 1;
            }
        }
        big += b;
        hit += h;
        if disks <= 20 {
            println!(
                "{seed}: {:.0} GB, {} visits {device_s:.0} s noise {:.4} corr {:?} levels {} of {} zones; big {b} hit {h}; suspects {} slow {:?} disturbed {}; step2% {:.4} sim {:?} map {:?}",
                cap / 1e9,
                map.visits.len(),
                map.noise,
                map.disturbances.correlation,
                map.levels.len(),
                zones.len(),
                map.suspects().len(),
                map.slow_places.len(),
                map.disturbances.visits,
                map.step_found(0.02),
                t_sim,
                t_map
            );
        }
    }
    for k in 0..3 {
        errs[k].sort_by(f64::total_cmp);
        let m = z[k].iter().sum::<f64>() / z[k].len() as f64;
        let v = z[k].iter().map(|x| (x - m) * (x - m)).sum::<f64>() / z[k].len() as f64;
        println!(
            "covered {:.1} % signed {:.4} % z mean {m:.2} sd {:.2} median err {:.3} % p95 {:.3} % max {:.3} %",
            100.0 * f64::from(c[k]) / f64::from(n),
            100.0 * signed[k] / f64::from(n),
            v.sqrt(),
            100.0 * errs[k][errs[k].len() / 2],
            100.0 * errs[k][errs[k].len() * 95 / 100],
            100.0 * errs[k].last().unwrap()
        );
    }
    println!(
        "big steps {big} hit {hit}; borders covered {cov_border}/{n_border}; levels {n_levels} rate off > 1 %: {ratebad}; steps where none is: {false_steps}"
    );
}
