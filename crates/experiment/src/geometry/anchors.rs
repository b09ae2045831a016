//! Places all over the range that are read again and again: they tell the time of a turn, and the seeks between.

use model::prng::Prng;
use model::range::ByteRange;

/// Places spread evenly, one at random in each of so many parts of the range.
const SPREAD: u64 = 220;
/// And so many at each edge, for the longest seeks: an edge is this part of the range.
const AT_EDGE: u64 = 30;
const EDGE_PARTS: u64 = 80;

pub fn draw(range: ByteRange, block: u64, prng: &mut Prng) -> Vec<u64> {
    let (first, bytes) = (range.first().get(), range.bytes().get());
    let edge = bytes / EDGE_PARTS;
    let mut places = Vec::new();
    for (start, length, count) in [(0, bytes, SPREAD), (0, edge, AT_EDGE), (bytes - edge, edge, AT_EDGE)] {
        for part in 0..count {
            let part_bytes = length / count;
            let within = prng.below(part_bytes.max(1));
            places.push((first + start + part * part_bytes + within) / block * block);
        }
    }
    places.retain(|place| *place >= first && place + block <= range.end().get());
    places.sort_unstable();
    places.dedup();
    places
}

/// All places in a random order in which none comes back before half of the others have been read.
pub fn rounds(places: &[u64], count: usize, prng: &mut Prng) -> Vec<u64> {
    let mut order = places.to_vec();
    prng.shuffle(&mut order);
    let mut all = order.clone();
    for _ in 1..count {
        let middle = order.len() / 2;
        let (front, back) = order.split_at_mut(middle);
        prng.shuffle(front);
        prng.shuffle(back);
        all.extend_from_slice(&order);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::units::Bytes;

    #[test]
    fn nothing_comes_back_soon() {
        let mut prng = Prng::new(7, 1);
        let places = draw(ByteRange::whole(Bytes::new(1 << 40)), 4096, &mut prng);
        assert_eq!(places.len(), 280);
        let order = rounds(&places, 4, &mut prng);
        assert_eq!(order.len(), 1120);
        for (at, place) in order.iter().enumerate() {
            let again = order[at + 1..].iter().position(|other| other == place);
            assert!(again.is_none_or(|distance| distance + 1 >= 140), "{again:?}");
        }
    }
}
