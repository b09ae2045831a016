//! The section `[volume]` of a profile.

use crate::flaw::Flaw;
use crate::profile::schema::{section, words};
use crate::volume::kind::VolumeKind;
use crate::volume::layout::Layout;
use model::units::{Bytes, KIB};

section! {
    VolumeProfile at "[volume]" = "A volume of several drives." {
        kind: VolumeKind => "How the members are combined.";
        chunk_kib: Option<u32> = None => "Chunk size of a `stripe`: a multiple of 4, from 4 to 1048576. Default: 64.";
        read_policy: Option<ReadPolicy> = None => "Which member of a `mirror` serves a read. Default: `nearest`.";
        members: Vec<MemberProfile> => "Member drives, `[[volume.members]]`.";
    }
}

section! {
    MemberProfile at "[[volume.members]]" = "One or more equal members of a volume." {
        profile: String => "Name of a built-in or random drive, such as `random-hard-disk-17`.";
        count: u32 = 1 => "Number of such members.";
    }
}

words! {
    #[derive(Default)]
    ReadPolicy = "Read balancing of a mirror." {
        RoundRobin = "round-robin" => "Members in turn.";
        #[default]
        Nearest = "nearest" => "Much as Linux RAID 1: the member whose last request ended where this one starts, else an idle member, else the nearest; if any is no disk, the one with the fewest requests in flight. The default.";
        First = "first" => "The first working member.";
    }
}

pub const MEMBERS_MAX: usize = 64;

const CHUNK_KIB: u32 = 64;

impl VolumeProfile {
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
        // A key that has no effect looks as if it had one.
        if self.chunk_kib.is_some() && self.kind != VolumeKind::Stripe {
            return Err(Flaw::new("chunk_kib", "only a stripe has chunks; leave it out"));
        }
        if self.read_policy.is_some() && self.kind != VolumeKind::Mirror {
            let reason = "only a mirror has several drives to read from; leave it out";
            return Err(Flaw::new("read_policy", reason));
        }
        Ok(())
    }

    pub fn chunk_kib(&self) -> u32 {
        self.chunk_kib.unwrap_or(CHUNK_KIB)
    }

    pub fn read_policy(&self) -> ReadPolicy {
        self.read_policy.unwrap_or_default()
    }

    /// Whether each drive serves a part of the reads of what all of them hold.
    pub fn shares_reads(&self) -> bool {
        self.kind == VolumeKind::Mirror && self.read_policy() != ReadPolicy::First
    }

    pub fn layout(&self, capacities: &[Bytes]) -> Result<Layout, Flaw> {
        self.check()?;
        let chunk_bytes = u64::from(self.chunk_kib()) * KIB;
        match Layout::new(self.kind, chunk_bytes, capacities) {
            Some(layout) => Ok(layout),
            None => Err(Flaw::new("members", "a drive is too small to hold a chunk, or all are too large")),
        }
    }

    /// Sequential rate of the volume where its drives have those rates, in bytes per second: all together with the
    /// slowest's rate, or one. A stream that reads a mirror stays with one drive, or skips, in vain.
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
        let small = volume(64, vec![member(2)]).layout(&[Bytes::new(1 << 20), Bytes::new(60_000)]);
        assert_eq!(small.unwrap_err().key, "members");
    }
}
