//! What a virtual drive really is, by finding code: computed from its make, never from running it. Whoever looks for
//! it in the records of a run must not be able to see this; only what scores them may.

use crate::ProfileError;
use crate::disk::published::{DISK_4TB_CAPACITY, disk_4tb};
use crate::disk::truth::DiskTruth;
use crate::profile::{CONSTANT_LATENCY, CONSTANT_SERVERS, open};
use crate::zoned::ZonedProfile;
use model::finding::FindingCode;
use model::units::{Bytes, MIB};

/// The small request of an access time, in bytes.
const ACCESS_BYTES: f64 = 4096.0;
/// Sequential requests of 1 MiB are under way in fours when a rate is measured. Only a drive whose rate is bounded
/// by latency alone needs to know.
const SEQUENTIAL_DEPTH: f64 = 4.0;

/// What is true of the drive of that name: codes and values in the units of the codes. A code that is absent must
/// not be found, with a value, on it.
///
/// # Errors
/// When there is no drive of that name.
pub fn truth(name: &str) -> Result<Vec<(FindingCode, f64)>, ProfileError> {
    let capacity = open(name, 0)?.facts().capacity;
    Ok(match name {
        "constant" => constant(capacity),
        "faulty" => {
            let mut truth = constant(capacity);
            truth.push((FindingCode::BadBlocks, 1.0));
            truth
        }
        "zoned" => zoned(&ZonedProfile::plain()),
        "disk-4tb" => disk(&DiskTruth::new(&disk_4tb(), DISK_4TB_CAPACITY)),
        _ => Vec::new(),
    })
}

/// What is true of a disk. Its gain by concurrency has no closed form and is left out.
pub fn zoned(profile: &ZonedProfile) -> Vec<(FindingCode, f64)> {
    let outer = profile.zones.first().expect("a disk has a zone").bytes_per_second;
    let inner = profile.zones.last().expect("a disk has a zone").bytes_per_second;
    let pass_s = profile.transfer_s(0, profile.capacity.0);
    let mut truth = rates(outer, inner, profile.capacity.0 as f64 / pass_s);
    truth.push((FindingCode::FullPassTime, pass_s));
    truth.push((FindingCode::AccessTime, access_s(profile, pass_s)));
    truth
}

/// What is true of a disk by its mechanism. Its gain by concurrency has no closed form and is left out, and so is
/// what its write cache makes of writes.
fn disk(disk: &DiskTruth) -> Vec<(FindingCode, f64)> {
    let (outer, inner) = disk.edge_rates();
    vec![
        (FindingCode::ReadRateOuter, outer),
        (FindingCode::ReadRateInner, inner),
        (FindingCode::ReadRateMean, disk.mean_rate()),
        (FindingCode::FullPassTime, disk.full_pass_s()),
        (FindingCode::AccessTime, disk.access_s(ACCESS_BYTES as u64)),
    ]
}

/// The exact mean over two uniform places: E√|x−y| = 8/15, E|x−y| = 1/3, half a turn, and the bytes at the mean
/// of the zones' times per byte, weighted by their sizes.
fn access_s(profile: &ZonedProfile, pass_s: f64) -> f64 {
    let seek_s = profile.seek_single_s + profile.seek_root_s * 8.0 / 15.0 + profile.seek_linear_s / 3.0;
    let transfer_s = ACCESS_BYTES * pass_s / profile.capacity.0 as f64;
    profile.overhead_s + seek_s + profile.rotation_s / 2.0 + transfer_s
}

fn constant(capacity: Bytes) -> Vec<(FindingCode, f64)> {
    let latency_s = CONSTANT_LATENCY.seconds();
    let rate = SEQUENTIAL_DEPTH * MIB as f64 / latency_s;
    let mut truth = rates(rate, rate, rate);
    truth.push((FindingCode::FullPassTime, capacity.0 as f64 / rate));
    truth.push((FindingCode::AccessTime, latency_s));
    truth.push((FindingCode::ConcurrencyGain, CONSTANT_SERVERS as f64));
    truth
}

/// Reads and writes are equally fast on all of today's drives.
fn rates(outer: f64, inner: f64, mean: f64) -> Vec<(FindingCode, f64)> {
    vec![
        (FindingCode::ReadRateOuter, outer),
        (FindingCode::ReadRateInner, inner),
        (FindingCode::ReadRateMean, mean),
        (FindingCode::WriteRateOuter, outer),
        (FindingCode::WriteRateInner, inner),
        (FindingCode::WriteRateMean, mean),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Drive;
    use crate::profile::open_zoned;
    use model::prng::Prng;
    use model::request::{Operation, Request, Tag};
    use model::units::Instant;

    fn value(truth: &[(FindingCode, f64)], code: FindingCode) -> f64 {
        truth.iter().find(|(known, _)| *known == code).unwrap().1
    }

    #[test]
    fn nothing_is_true_of_the_null_drive() {
        assert_eq!(truth("null").unwrap(), []);
        assert!(truth("nul").is_err());
    }

    #[test]
    fn the_plain_disk_by_hand() {
        let truth = truth("zoned").unwrap();
        assert_eq!(value(&truth, FindingCode::ReadRateOuter), 150e6);
        assert_eq!(value(&truth, FindingCode::WriteRateInner).round(), 72e6);
        // 0.2 + (0.8 + 11·8/15 + 6.7/3) + 4.1667 ms = 13.2667 ms, and 4096 bytes at 116 MB/s: 0.035 ms.
        let access_s = value(&truth, FindingCode::AccessTime);
        assert!((access_s - 13.302e-3).abs() < 0.002e-3, "{access_s}");
    }

    /// The closed form against the drive: 40,000 single reads, 5 standard errors.
    #[test]
    fn single_random_reads_take_what_the_truth_says() {
        let profile = ZonedProfile::plain();
        let access_s = value(&zoned(&profile), FindingCode::AccessTime);
        let (mut drive, mut prng, mut now) =
            (open_zoned(profile.clone(), 5), Prng::new(6, 0), Instant::START);
        let mut times = Vec::new();
        for _ in 0..40_000 {
            let offset_bytes = prng.below(profile.capacity.0 / 4096) * 4096;
            let request =
                Request { tag: Tag(0), operation: Operation::Read, offset_bytes, length_bytes: 4096 };
            drive.submit(request, now);
            let end = drive.next_completion_at().unwrap();
            drive.take_completion(end).unwrap();
            times.push(end.since(now).seconds());
            now = end;
        }
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        let variance = times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / times.len() as f64;
        let error = (mean - access_s).abs() / (variance / times.len() as f64).sqrt();
        assert!(error < 5.0, "{mean} against {access_s}: {error} standard errors");
    }
}
