//! The platter and the arm: how long it takes to get to a sector and over a stretch of them.
//!
//! Getting there is the longer of seek and head switch, for a write the settling, then the wait until the sector comes by. The angle is that of
//! a clock that never stops, so whoever is a moment late waits a whole turn. A stretch takes the turns that [`Geometry`] says, skews included;
//! one that continues where the last one ended, at the moment it ended, costs nothing but its own turns.
//!
//! Defects, as drives treat them (SMART: reallocated and pending sectors): a remapped sector costs the way to the
//! spare cylinders of its zone and back; a slow one costs whole turns; an unreadable one costs whole turns and fails.
//! A write that covers a physical sector only in part reads it first and writes it one turn later.
//!
//! Not modelled: zero-latency access, writes that miss their track, writes that mend sectors, temperature.

use crate::disk::geometry::{Geometry, Place};
use crate::disk::profile::{Defect, DefectKind, DiskProfile, StandbyProfile};
use crate::disk::seek::SeekCurve;
use model::prng::Prng;
use model::units::Bytes;

/// Turns by which a sector may have passed and still be caught: what rounding makes of a moment, 8 ns of 8 ms.
const CAUGHT_TURNS: f64 = 1e-6;

/// Platter and arm. Whoever has one decides what is done when.
#[derive(Clone, Debug)]
pub struct Mechanism {
    geometry: Geometry,
    seek: SeekCurve,
    seek_noise: f64,
    turn_s: f64,
    turns_per_second: f64,
    head_switch_s: f64,
    write_settle_s: f64,
    standby: Option<StandbyProfile>,
    asleep: bool,
    defects: Vec<Defect>,
    prng: Prng,
    arm: Arm,
}

#[derive(Clone, Copy, Debug, Default)]
struct Arm {
    cylinder: u64,
    surface: u32,
    /// Whether the head wrote last: then it has settled well enough to write on.
    writing: bool,
    /// The sector behind the last one, and the revolutions at the last one's end.
    next_sector: u64,
    revolutions: f64,
    free_s: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    pub first_s: f64,
    /// How long the head had been on the track by then.
    pub waited_s: f64,
    /// When its last sector had passed, or the arm gave up, in seconds.
    pub end_s: f64,
    pub failed_byte: Option<u64>,
    /// Whether nothing but the layout decided how long it took: then what follows can be read on from `first_s`.
    pub is_plain: bool,
}

impl Mechanism {
    /// The mechanism of a disk whose platters hold `capacity`, at rest at the outer edge, by a checked profile.
    pub fn new(capacity: Bytes, profile: &DiskProfile, seed: u64) -> Mechanism {
        let geometry = profile.geometry.build(capacity).expect("the profile has passed its check");
        let seek = SeekCurve::of_profile(&profile.seek, geometry.cylinders());
        Mechanism {
            seek: seek.expect("the profile has passed its check"),
            geometry,
            seek_noise: profile.seek_noise,
            turn_s: profile.turn_s(),
            turns_per_second: 1.0 / profile.turn_s(),
            head_switch_s: profile.head_switch_ms / 1e3,
            write_settle_s: profile.write_settle_ms / 1e3,
            asleep: matches!(&profile.standby, Some(standby) if standby.asleep),
            standby: profile.standby.clone(),
            defects: profile.defects.clone(),
            prng: Prng::new(seed, u64::from_le_bytes(*b"the disk")),
            arm: Arm::default(),
        }
    }

    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub fn seek(&self) -> &SeekCurve {
        &self.seek
    }

    pub fn turn_s(&self) -> f64 {
        self.turn_s
    }

    /// When the arm has done what it was told, in seconds.
    pub fn free_s(&self) -> f64 {
        self.arm.free_s
    }

    pub fn bytes(&self) -> u64 {
        self.geometry.sectors() * self.geometry.sector_bytes()
    }

    /// Where the sector of a byte is. Panics past the last one.
    pub fn place_of(&self, byte: u64) -> Place {
        self.geometry.place(byte / self.geometry.sector_bytes())
    }

    /// The rate at which a whole group of the zone of a byte passes the head in order, in bytes per second.
    pub fn rate_at(&self, byte: u64) -> f64 {
        let surfaces = self.geometry.surfaces() as f64;
        let sectors = self.geometry.sectors_per_cylinder(byte / self.geometry.sector_bytes()) as f64;
        let bytes_per_turn =
            sectors / surfaces * self.geometry.sector_bytes() as f64 / self.geometry.turns_per_track();
        bytes_per_turn * self.turns_per_second
    }

    /// The part of a turn that the platter has done at a moment, for [`Mechanism::positioning_from`].
    pub fn phase_turns(&self, at_s: f64) -> f64 {
        let turns = at_s * self.turns_per_second;
        turns - (turns as u64) as f64
    }

    /// Seconds from `at_s` until the first sector of a place passes under the head, without noise.
    pub fn positioning_s(&self, place: &Place, at_s: f64, writes: bool) -> f64 {
        if at_s <= self.arm.free_s && self.goes_on_with(place, writes) {
            return self.arm.free_s + self.skew_s(place) - at_s;
        }
        self.positioning_from(place, self.phase_turns(at_s), writes)
    }

    /// The same from the part of a turn that has been done, for many places at once: as if none came next.
    #[inline]
    pub fn positioning_from(&self, place: &Place, phase_turns: f64, writes: bool) -> f64 {
        let reach_s = self.reach_s(place, writes);
        reach_s + self.wait_s(place.angle_turns, phase_turns + reach_s * self.turns_per_second)
    }

    /// Whether a place is what comes next where the arm is, so that going on costs no positioning.
    #[inline]
    pub fn goes_on_with(&self, place: &Place, writes: bool) -> bool {
        place.sector == self.arm.next_sector && self.arm.writing == writes && place.sector > 0
    }

    /// Seconds from the end of the last sector to the beginning of the next: none, but for a skew.
    #[inline]
    fn skew_s(&self, place: &Place) -> f64 {
        (place.revolutions - self.arm.revolutions) * self.turn_s
    }

    /// Seconds until the arm is at a place: the longer of seek and head switch, and settling before a write.
    #[inline]
    fn reach_s(&self, place: &Place, writes: bool) -> f64 {
        let stays = self.arm.cylinder == place.cylinder && self.arm.surface == place.surface;
        let switch_s = if self.arm.surface == place.surface { 0.0 } else { self.head_switch_s };
        let settle_s = if writes && !(stays && self.arm.writing) { self.write_settle_s } else { 0.0 };
        self.seek.seconds(self.arm.cylinder.abs_diff(place.cylinder)).max(switch_s) + settle_s
    }

    /// Seconds until an angle passes under the head when the platter has done `turns`, which are not negative.
    #[inline]
    fn wait_s(&self, angle_turns: f64, turns: f64) -> f64 {
        let ahead = angle_turns - turns;
        let ahead = ahead - (ahead as i64) as f64;
        let ahead = if ahead < 0.0 { ahead + 1.0 } else { ahead };
        if ahead > 1.0 - CAUGHT_TURNS { 0.0 } else { ahead * self.turn_s }
    }

    /// Moves the arm to a stretch and over it, from `start_s` on or when it is free. The stretch is not empty.
    pub fn transfer(&mut self, first_byte: u64, length_bytes: u64, writes: bool, start_s: f64) -> Transfer {
        let place = self.place_of(first_byte);
        self.transfer_from(&place, first_byte, length_bytes, writes, start_s)
    }

    /// [`Mechanism::transfer`] for those who have kept the place of the first byte.
    pub fn transfer_from(
        &mut self,
        place: &Place,
        first_byte: u64,
        length_bytes: u64,
        writes: bool,
        start_s: f64,
    ) -> Transfer {
        let sector_bytes = self.geometry.sector_bytes();
        let end_byte = first_byte + length_bytes;
        let end = end_byte.div_ceil(sector_bytes);
        let (first_s, waited_s) = self.arrive(place, writes, start_s.max(self.arm.free_s));
        let last = self.geometry.place(end - 1);
        let turns = last.end_revolutions() - place.revolutions;
        let end_s = first_s + turns * self.turn_s;
        let mut transfer = Transfer { first_s, waited_s, end_s, failed_byte: None, is_plain: true };
        let is_partial = !(first_byte.is_multiple_of(sector_bytes) && end_byte.is_multiple_of(sector_bytes));
        if writes && is_partial {
            // Read, and written when it comes by again.
            transfer.end_s += turns.ceil().max(1.0) * self.turn_s;
        }
        self.stay(&last, end, writes, transfer.end_s);
        if !self.defects.is_empty() {
            self.meet_defects(&mut transfer, place, first_byte, end_byte, writes);
        }
        transfer
    }

    fn arrive(&mut self, place: &Place, writes: bool, start_s: f64) -> (f64, f64) {
        if start_s <= self.arm.free_s && self.goes_on_with(place, writes) {
            return (self.arm.free_s + self.skew_s(place), 0.0);
        }
        let start_s = start_s + self.wake_up_s(start_s);
        self.asleep = false;
        let noise = match self.seek_noise {
            0.0 => 1.0,
            share => (1.0 + share * self.prng.normal()).clamp(0.5, 2.0),
        };
        let ready_s = start_s + self.reach_s(place, writes) * noise;
        let waited_s = self.wait_s(place.angle_turns, self.phase_turns(ready_s));
        (ready_s + waited_s, waited_s)
    }

    /// Bytes of the same track right before a stretch that pass the head in the time before it.
    pub fn passed_before(&self, first_byte: u64, waited_s: f64) -> u64 {
        let place = self.place_of(first_byte);
        let passed = (waited_s * self.turns_per_second * f64::from(place.sectors_per_track)) as u64;
        let (mut on_track, mut beyond) = (0, passed.min(place.sector) + 1);
        while on_track + 1 < beyond {
            let middle = on_track.midpoint(beyond);
            let before = self.geometry.place(place.sector - middle);
            let is_same = (before.cylinder, before.surface) == (place.cylinder, place.surface);
            if is_same { on_track = middle } else { beyond = middle }
        }
        on_track * self.geometry.sector_bytes()
    }

    fn wake_up_s(&self, at_s: f64) -> f64 {
        match &self.standby {
            Some(standby) if self.asleep || at_s - self.arm.free_s > standby.after_idle_s => {
                standby.wake_up_s
            }
            _ => 0.0,
        }
    }

    /// The arm is over the last sector of something, and will be until `free_s`.
    fn stay(&mut self, last: &Place, next_sector: u64, writing: bool, free_s: f64) {
        self.arm = Arm {
            cylinder: last.cylinder,
            surface: last.surface,
            writing,
            next_sector,
            revolutions: last.end_revolutions(),
            free_s,
        };
    }

    /// The arm has read on to the end of a sector, which passed at `free_s`.
    pub fn read_on_to(&mut self, last: &Place, next_sector: u64, free_s: f64) {
        self.stay(last, next_sector, false, free_s.max(self.arm.free_s));
    }

    /// The arm stays until `free_s`, and what continues there passes at once, as its gap is of just that angle.
    pub fn hold_until(&mut self, free_s: f64) {
        self.arm.free_s = self.arm.free_s.max(free_s);
    }

    pub fn sound_until(&self, byte: u64, limit_byte: u64) -> u64 {
        let from = self.defects.partition_point(|defect| defect.first_byte + defect.bytes <= byte);
        self.defects.get(from).map_or(limit_byte, |defect| defect.first_byte.clamp(byte, limit_byte))
    }

    fn meet_defects(
        &mut self,
        transfer: &mut Transfer,
        place: &Place,
        first_byte: u64,
        end_byte: u64,
        writes: bool,
    ) {
        let from = self.defects.partition_point(|defect| defect.first_byte + defect.bytes <= first_byte);
        let met: Vec<Defect> =
            self.defects[from..].iter().take_while(|defect| defect.first_byte < end_byte).cloned().collect();
        for defect in met {
            let begin = defect.first_byte.max(first_byte);
            let end = (defect.first_byte + defect.bytes).min(end_byte);
            transfer.is_plain = false;
            match defect.kind {
                DefectKind::Remapped => transfer.end_s += self.excursion_s(begin, end),
                _ if writes => {}
                DefectKind::Slow => {
                    let sectors = (end - begin).div_ceil(self.geometry.sector_bytes());
                    transfer.end_s += sectors as f64 * f64::from(defect.retry_turns) * self.turn_s;
                }
                DefectKind::Unreadable => {
                    let bad = self.place_of(begin);
                    let late_s = transfer.end_s - self.arm.free_s;
                    let turns = bad.end_revolutions() - place.revolutions + f64::from(defect.retry_turns);
                    let end_s = transfer.first_s + late_s + turns * self.turn_s;
                    let next = begin / self.geometry.sector_bytes() + 1;
                    self.stay(&bad, next, false, end_s);
                    (transfer.end_s, transfer.failed_byte) = (end_s, Some(begin));
                    return;
                }
            }
        }
        self.arm.free_s = transfer.end_s;
    }

    /// What it costs that a stretch is on the spare cylinders of its zone: there and back, each with half a turn of
    /// waiting, and as a whole number of turns, since the platter must be where it was to go on.
    fn excursion_s(&self, begin: u64, end: u64) -> f64 {
        let sector_bytes = self.geometry.sector_bytes();
        let place = self.place_of(begin);
        let spare = self.geometry.spare_cylinder(begin / sector_bytes);
        let seek_s = self.seek.seconds(place.cylinder.abs_diff(spare)).max(self.head_switch_s);
        let sectors = (end - begin).div_ceil(sector_bytes) as f64;
        let away_s = 2.0 * seek_s + (0.5 + sectors / f64::from(place.sectors_per_track)) * self.turn_s;
        (away_s * self.turns_per_second).ceil() * self.turn_s
    }
}

#[cfg(test)]
#[path = "mechanism_tests.rs"]
mod tests;
