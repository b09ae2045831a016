//! A run while detectors look at it.

use crate::cache::{ReadOn, read_on};
use crate::geometry::Mechanics;
use crate::interference::{self, counted_bytes_per_second};
use crate::measured::is_surveyed;
use crate::moving_parts::{is_as_slow_nearby, turns};
use crate::stripe::{Answered, Arms, Verdict};
use crate::surface::{Pauses, SurfaceMap};
use crate::unmapped::{self, ReadGroups};
use model::finding::{Interference, NoGeometry, StripeLayoutUnknown, SurveyUnknown, UnmappedRanges};
use model::request::Operation;
use model::run::RunView;
use std::cell::OnceCell;
use std::ops::Deref;

/// With more of others no time of single reads is stated, nor what is made of it.
const OTHERS_SHARE_MAX: f64 = 0.05;

/// What several detectors ask of a run is worked out when the first asks.
pub struct Examined<'run> {
    run: RunView<'run>,
    read_map: OnceCell<Result<SurfaceMap, SurveyUnknown>>,
    write_map: OnceCell<Result<SurfaceMap, SurveyUnknown>>,
    pauses: OnceCell<Pauses>,
    interference: OnceCell<Option<Interference>>,
    mechanics: OnceCell<Result<Mechanics, NoGeometry>>,
    members: OnceCell<Option<Answered>>,
    read_on: OnceCell<ReadOn>,
    read_groups: OnceCell<Result<ReadGroups, SurveyUnknown>>,
    unmapped: OnceCell<Result<UnmappedRanges, SurveyUnknown>>,
}

impl<'run> Examined<'run> {
    pub fn new(run: &RunView<'run>) -> Examined<'run> {
        Examined {
            run: RunView { ..*run },
            read_map: OnceCell::new(),
            write_map: OnceCell::new(),
            pauses: OnceCell::new(),
            interference: OnceCell::new(),
            mechanics: OnceCell::new(),
            members: OnceCell::new(),
            read_on: OnceCell::new(),
            read_groups: OnceCell::new(),
            unmapped: OnceCell::new(),
        }
    }

    pub(crate) fn surface(&self, operation: Operation) -> Result<&SurfaceMap, SurveyUnknown> {
        let map = if operation == Operation::Read { &self.read_map } else { &self.write_map };
        let examine = || {
            let map = SurfaceMap::of(self, operation)?;
            Ok(if operation == Operation::Read { map.with_pauses(self) } else { map })
        };
        map.get_or_init(examine).as_ref().map_err(|reason| *reason)
    }

    pub(crate) fn mechanics(&self) -> Result<&Mechanics, NoGeometry> {
        self.mechanics.get_or_init(|| Mechanics::of(self)).as_ref().map_err(|reason| *reason)
    }

    pub(crate) fn read_groups(&self) -> Result<&ReadGroups, SurveyUnknown> {
        self.read_groups.get_or_init(|| ReadGroups::of(self)).as_ref().map_err(|reason| *reason)
    }

    pub(crate) fn unmapped(&self) -> Result<&UnmappedRanges, SurveyUnknown> {
        self.unmapped.get_or_init(|| self.find_unmapped()).as_ref().map_err(|reason| *reason)
    }

    fn find_unmapped(&self) -> Result<UnmappedRanges, SurveyUnknown> {
        let map = self.surface(Operation::Read)?;
        if let Some(limit) = unmapped::limit_of_samples(map)? {
            return unmapped::by_samples(self, map, limit);
        }
        // Neighboring offsets were read at different times, so that no load makes their latencies alike.
        match (self.read_groups(), map.other_load()) {
            (Ok(groups), _) => Ok(groups.unmapped(map.range)),
            (Err(_), Some(load)) => Err(SurveyUnknown::OtherLoad(load)),
            (Err(reason), None) => Err(map.scattered().unwrap_or(reason)),
        }
    }

    /// Whether one drive answers reads at a higher QD or several, where that was asked.
    pub(crate) fn members(&self) -> Option<&Answered> {
        let answered = || {
            let answered = Answered::of(self)?;
            if !answered.reads.has_arm()
                || !self.needs_rotation(&answered.verdict)
                || !self.shows_no_rotation()
            {
                return Some(answered);
            }
            let verdict = Verdict::Open { why: StripeLayoutUnknown::NotRotating, more_helps: false };
            Some(Answered { verdict, arms: Arms::One, ..answered })
        };
        self.members.get_or_init(answered).as_ref()
    }

    /// Whether only rotation proves arms. A stripe shows in which reads wait for which; the servers of a network volume complete several reads
    /// concurrently, as a mirror does, but are no faster within a small span.
    fn needs_rotation(&self, verdict: &Verdict) -> bool {
        match verdict {
            Verdict::One => true,
            Verdict::Stripe { .. } => self.target.rotational == Some(false),
            _ => self.target.rotational == Some(false) || is_as_slow_nearby(self),
        }
    }

    /// Whether rereads show no revolutions, or nothing was read again of a drive that reports none. Those of a mirror show none, whose members do
    /// not rotate together; those of one disk do.
    fn shows_no_rotation(&self) -> bool {
        match self.mechanics() {
            Ok(_) | Err(NoGeometry::SeveralSpeeds { .. }) => false,
            Err(NoGeometry::NoRevolution | NoGeometry::EqualLatency) => true,
            Err(_) => self.target.rotational == Some(false),
        }
    }

    pub(crate) fn arms(&self) -> Arms {
        if let Some(members) = self.members() { members.arms } else { Arms::One }
    }

    pub(crate) fn has_several_arms(&self) -> bool {
        self.arms() != Arms::One
    }

    pub(crate) fn read_on(&self) -> &ReadOn {
        self.read_on.get_or_init(|| read_on(self, self.arms().stripe()))
    }

    /// Of sequential reads, while other I/O was served; none of other operations.
    pub(crate) fn pauses(&self, operation: Operation) -> Pauses {
        if operation == Operation::Read {
            *self.pauses.get_or_init(|| Pauses::of(self, &[]))
        } else {
            Pauses::default()
        }
    }

    /// What shows that something else used the drive while its single random reads were measured.
    pub(crate) fn interference(&self) -> Option<Interference> {
        *self.interference.get_or_init(|| match interference::of_reads(self) {
            None if turns(self) == Some(true) => self.beside_reads(),
            by_reads => by_reads,
        })
    }

    pub(crate) fn beside_reads(&self) -> Option<Interference> {
        match counted_bytes_per_second(self) {
            Some(bytes_per_second) => Some(Interference::Counted { bytes_per_second }),
            None if self.are_samples_held_up() => Some(Interference::InSamples),
            None => None,
        }
    }

    fn are_samples_held_up(&self) -> bool {
        self.share_of_others().is_none_or(|share| share > OTHERS_SHARE_MAX)
    }

    /// By what share others made single reads longer, at most, as sequential reads of the same run show; none where they do not tell.
    pub(crate) fn share_of_others(&self) -> Option<f64> {
        if is_surveyed(self, Operation::Read)
            && let Ok(map) = self.surface(Operation::Read)
        {
            return map.share_of_others();
        }
        if self.pauses(Operation::Read).are_in_many() { None } else { Some(0.0) }
    }
}

impl<'run> Deref for Examined<'run> {
    type Target = RunView<'run>;

    fn deref(&self) -> &RunView<'run> {
        &self.run
    }
}
