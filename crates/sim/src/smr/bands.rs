//! Where the bands are: fixed stretches of the capacity, each of which is only written from its start on. The mapping is
//! static, as in every drive-managed disk that was looked into: a band's data are always in that band.

use crate::smr::profile::BandZone;
use std::ops::Range;

#[derive(Clone, Debug)]
pub struct Bands {
    zones: Vec<NumberedZone>,
    capacity_bytes: u64,
    count: u32,
}

#[derive(Clone, Debug)]
struct NumberedZone {
    first_byte: u64,
    end_byte: u64,
    band_bytes: u64,
    first_band: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub band: u32,
    pub first_byte: u64,
    pub end_byte: u64,
}

impl Bands {
    pub fn new(zones: &[BandZone], capacity_bytes: u64) -> Bands {
        let mut count = 0u32;
        let mut numbered = Vec::with_capacity(zones.len());
        for (index, &BandZone { first_byte, band_bytes }) in zones.iter().enumerate() {
            let end_byte = zones.get(index + 1).map_or(capacity_bytes, |next| next.first_byte);
            assert!(first_byte < end_byte && band_bytes > 0, "zones of bands grow and hold something");
            numbered.push(NumberedZone { first_byte, end_byte, band_bytes, first_band: count });
            count += (end_byte - first_byte).div_ceil(band_bytes) as u32;
        }
        Bands { zones: numbered, capacity_bytes, count }
    }

    pub fn count(&self) -> u32 {
        self.count
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    pub fn of(&self, byte: u64) -> u32 {
        debug_assert!(byte < self.capacity_bytes, "a byte of the drive");
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_byte <= byte) - 1];
        zone.first_band + ((byte - zone.first_byte) / zone.band_bytes) as u32
    }

    pub fn range(&self, band: u32) -> Range<u64> {
        debug_assert!(band < self.count, "a band of the drive");
        let zone = &self.zones[self.zones.partition_point(|zone| zone.first_band <= band) - 1];
        let first = zone.first_byte + u64::from(band - zone.first_band) * zone.band_bytes;
        first..(first + zone.band_bytes).min(zone.end_byte)
    }

    pub fn pieces(&self, first_byte: u64, end_byte: u64) -> impl Iterator<Item = Piece> + '_ {
        let mut at = first_byte;
        std::iter::from_fn(move || {
            if at >= end_byte {
                return None;
            }
            let band = self.of(at);
            let piece = Piece { band, first_byte: at, end_byte: self.range(band).end.min(end_byte) };
            at = piece.end_byte;
            Some(piece)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn two_sizes() -> Bands {
        let zones = [
            BandZone { first_byte: 0, band_bytes: 40_960 },
            BandZone { first_byte: 102_400, band_bytes: 16_384 },
        ];
        Bands::new(&zones, 150_000)
    }

    #[test]
    fn the_last_band_of_a_zone_is_shorter() {
        let bands = two_sizes();
        let ranges: Vec<_> = (0..bands.count()).map(|band| bands.range(band)).collect();
        let expected = [
            0..40_960,
            40_960..81_920,
            81_920..102_400,
            102_400..118_784,
            118_784..135_168,
            135_168..150_000,
        ];
        assert_eq!(ranges, expected);
        assert_eq!(
            [0, 40_959, 40_960, 102_399, 102_400, 149_999].map(|byte| bands.of(byte)),
            [0, 0, 1, 2, 3, 5]
        );
    }

    #[test]
    fn a_stretch_is_cut_where_bands_end() {
        let pieces: Vec<_> = two_sizes()
            .pieces(81_000, 103_000)
            .map(|piece| (piece.band, piece.first_byte, piece.end_byte))
            .collect();
        assert_eq!(pieces, [(1, 81_000, 81_920), (2, 81_920, 102_400), (3, 102_400, 103_000)]);
    }

    proptest! {
        #[test]
        fn every_byte_is_in_the_range_of_its_band(byte in 0u64..150_000) {
            let bands = two_sizes();
            prop_assert!(bands.range(bands.of(byte)).contains(&byte));
        }
    }
}
