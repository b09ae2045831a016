//! Whom to collect: the superblock with the fewest valid pages (greedy), found in constant time.
//!
//! Full superblocks stand in one list for each number of valid pages. A page that becomes invalid moves its superblock
//! one list down; the lowest list that is not empty is remembered, and only ever searched upwards.

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub(crate) struct Victims {
    /// The first superblock of each list, by number of valid pages.
    heads: Vec<u32>,
    next: Vec<u32>,
    previous: Vec<u32>,
    lowest: u32,
}

impl Victims {
    pub(crate) fn new(superblocks: u32, slots: u32) -> Victims {
        Victims {
            heads: vec![NONE; slots as usize + 1],
            next: vec![NONE; superblocks as usize],
            previous: vec![NONE; superblocks as usize],
            lowest: slots,
        }
    }

    #[inline]
    pub(crate) fn insert(&mut self, superblock: u32, valid: u32) {
        let head = self.heads[valid as usize];
        self.next[superblock as usize] = head;
        self.previous[superblock as usize] = NONE;
        if head != NONE {
            self.previous[head as usize] = superblock;
        }
        self.heads[valid as usize] = superblock;
        self.lowest = self.lowest.min(valid);
    }

    /// One of a full superblock's `valid` pages is valid no more.
    #[inline]
    pub(crate) fn lose_one(&mut self, superblock: u32, valid: u32) {
        debug_assert!(valid > 0 && self.lowest <= valid, "no list below the lowest has a member");
        self.remove(superblock, valid);
        self.insert(superblock, valid - 1);
    }

    pub(crate) fn fewest(&mut self) -> Option<(u32, u32)> {
        while (self.lowest as usize) < self.heads.len() {
            let head = self.heads[self.lowest as usize];
            if head != NONE {
                return Some((head, self.lowest));
            }
            self.lowest += 1;
        }
        // Where the next search begins if one is inserted: nothing is below the last list.
        self.lowest = self.heads.len() as u32 - 1;
        None
    }

    #[inline]
    pub(crate) fn remove(&mut self, superblock: u32, valid: u32) {
        let (next, previous) = (self.next[superblock as usize], self.previous[superblock as usize]);
        if next != NONE {
            self.previous[next as usize] = previous;
        }
        if previous == NONE {
            debug_assert_eq!(self.heads[valid as usize], superblock, "it is the first of its list");
            self.heads[valid as usize] = next;
        } else {
            self.next[previous as usize] = next;
        }
    }

    #[cfg(test)]
    pub(crate) fn memory_bytes(&self) -> u64 {
        4 * (self.heads.len() + self.next.len() + self.previous.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_fewest_is_the_fewest(steps in prop::collection::vec((0u32..20, 0u32..9, 0u8..3), 1..200)) {
            let mut victims = Victims::new(20, 8);
            let mut plain: Vec<Option<u32>> = vec![None; 20];
            for (superblock, valid, step) in steps {
                match (plain[superblock as usize], step) {
                    (None, _) => {
                        victims.insert(superblock, valid);
                        plain[superblock as usize] = Some(valid);
                    }
                    (Some(valid), 0) => {
                        victims.remove(superblock, valid);
                        plain[superblock as usize] = None;
                    }
                    (Some(valid), _) if valid > 0 => {
                        victims.lose_one(superblock, valid);
                        plain[superblock as usize] = Some(valid - 1);
                    }
                    _ => {}
                }
                let fewest = victims.fewest();
                prop_assert_eq!(fewest.map(|(_, valid)| valid), plain.iter().flatten().min().copied());
                if let Some((superblock, valid)) = fewest {
                    prop_assert_eq!(plain[superblock as usize], Some(valid));
                }
            }
        }
    }
}
