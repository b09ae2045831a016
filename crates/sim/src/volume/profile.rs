//! The section `[volume]` of a profile.

use crate::flaw::Flaw;
use crate::volume::layout::Layout;
use model::units::{Bytes, KIB};
use serde::{Deserialize, Serialize};

/// A volume over several drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeProfile {
    /// How its drives make one: `stripe`, `mirror`, `concatenation`.
    pub kind: VolumeKind,
    /// For `stripe`: how much lies on one drive before the next comes, in KiB. 4 to 1048576. Default: 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_kib: Option<u32>,
    /// For `mirror`: which drive a read goes to: `round-robin`, `nearest`, `first`. Default: `nearest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_policy: Option<ReadPolicy>,
    /// Its drives, `[[volume.members]]`.
    pub members: Vec<MemberProfile>,
}

/// One or more drives of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberProfile {
    /// A drive by its name: one that comes with the program, or one that is drawn, such as `random-hard-disk-17`.
    pub profile: String,
    /// How many of them there are. Default: 1.
    #[serde(default = "one")]
    pub count: u32,
}

/// How drives make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VolumeKind {
    /// Chunk after chunk on one drive after the other: RAID 0, a striped logical volume.
    Stripe,
    /// The same on all: RAID 1. One drive that answers is enough.
    Mirror,
    /// The next begins where the one before ends.
    Concatenation,
}

/// Which drive of a mirror a read goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadPolicy {
    /// One after the other.
    RoundRobin,
    /// The one whose last request ended where this begins; else the one with the fewest requests under way, and of
    /// those the one whose last request ended nearest. Much as Linux does for RAID 1.
    #[default]
    Nearest,
    /// The first that is there.
    First,
}

/// As many drives as a volume can have.
pub const MEMBERS_MAX: usize = 64;

const CHUNK_KIB: u32 = 64;

fn one() -> u32 {
    1
}

impl VolumeProfile {
    /// Whether such a volume can be.
    ///
    /// # Errors
    /// When it has too few or too many drives, or chunks that cannot be.
    pub fn check(&self) -> Result<(), Flaw> {
        if let Some(index) = self.members.iter().position(|member| member.count == 0) {
            return Err(Flaw::new(format!("members.{index}.count"), "it is at least 1"));
        }
        let count: u64 = self.members.iter().map(|member| u64::from(member.count)).sum();
        if !(1..=MEMBERS_MAX as u64).contains(&count) {
            return Err(Flaw::new("members", format!("there are {count}, not 1 to {MEMBERS_MAX}")));
        }
        if !(4..=1 << 20).contains(&self.chunk_kib()) || !self.chunk_kib().is_multiple_of(4) {
            return Err(Flaw::new("chunk_kib", "it is no multiple of 4 between 4 and 1048576"));
        }
        // What would be passed over without a word looks as if it had an effect.
        if self.chunk_kib.is_some() && self.kind != VolumeKind::Stripe {
            return Err(Flaw::new("chunk_kib", "only a stripe has chunks; leave it out"));
        }
        if self.read_policy.is_some() && self.kind != VolumeKind::Mirror {
            return Err(Flaw::new(
                "read_policy",
                "only a mirror has several drives to read from; leave it out",
            ));
        }
        Ok(())
    }

    /// How much lies on one drive of a stripe before the next comes, in KiB.
    pub fn chunk_kib(&self) -> u32 {
        self.chunk_kib.unwrap_or(CHUNK_KIB)
    }

    /// Which drive of a mirror a read goes to.
    pub fn read_policy(&self) -> ReadPolicy {
        self.read_policy.unwrap_or_default()
    }

    /// Where everything lies over drives of those capacities.
    ///
    /// # Errors
    /// When nothing fits on one of them, or all together are past 64 bits.
    pub fn layout(&self, capacities: &[Bytes]) -> Result<Layout, Flaw> {
        self.check()?;
        let chunk_bytes = u64::from(self.chunk_kib()) * KIB;
        Layout::new(self.kind, chunk_bytes, capacities)
            .ok_or_else(|| Flaw::new("members", "a drive is too small to hold a chunk, or all are too large"))
    }

    /// How fast the volume reads or writes in order where its drives do so at those rates, in bytes per second: as
    /// fast as all together if each had the rate of the slowest, or as one. One stream that reads a mirror stays with
    /// one drive, or leaves out on each what the other reads, which does not make a turning platter faster.
    pub fn sequential_rate(&self, rates: &[f64]) -> f64 {
        let slowest = rates.iter().copied().fold(f64::INFINITY, f64::min);
        match self.kind {
            VolumeKind::Stripe => slowest * rates.len() as f64,
            VolumeKind::Mirror | VolumeKind::Concatenation => slowest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_reads_as_documented() {
        let text = "kind = \"stripe\"\n[[members]]\nprofile = \"hds723030ala640\"\ncount = 3\n";
        let profile: VolumeProfile = toml::from_str(text).unwrap();
        assert_eq!((profile.chunk_kib(), profile.read_policy()), (64, ReadPolicy::Nearest));
        assert_eq!(profile.check(), Ok(()));
        assert_eq!(profile.sequential_rate(&[100e6, 90e6, 110e6]), 270e6);
        assert_eq!(toml::from_str::<VolumeProfile>(&toml::to_string(&profile).unwrap()).unwrap(), profile);
        assert!(toml::from_str::<VolumeProfile>(&format!("chunk = 4\n{text}")).is_err());
    }

    #[test]
    fn volumes_that_cannot_be_are_refused() {
        let member = |count| MemberProfile { profile: "null".into(), count };
        let volume = |chunk_kib, members| VolumeProfile {
            kind: VolumeKind::Stripe,
            chunk_kib: Some(chunk_kib),
            read_policy: None,
            members,
        };
        let flaw = |chunk_kib, members| volume(chunk_kib, members).check().unwrap_err().key;
        assert_eq!(flaw(64, vec![]), "members");
        assert_eq!(flaw(64, vec![member(1), member(0)]), "members.1.count");
        assert_eq!(flaw(64, vec![member(u32::MAX), member(u32::MAX)]), "members");
        assert_eq!(flaw(0, vec![member(2)]), "chunk_kib");
        assert_eq!(flaw(6, vec![member(2)]), "chunk_kib");
        let mirror = VolumeProfile { kind: VolumeKind::Mirror, ..volume(64, vec![member(2)]) };
        assert_eq!(mirror.check().unwrap_err().key, "chunk_kib");
        let stripe = VolumeProfile { read_policy: Some(ReadPolicy::First), ..volume(64, vec![member(2)]) };
        assert_eq!(stripe.check().unwrap_err().key, "read_policy");
        let small = volume(64, vec![member(2)]).layout(&[Bytes(1 << 20), Bytes(60_000)]);
        assert_eq!(small.unwrap_err().key, "members");
    }
}
