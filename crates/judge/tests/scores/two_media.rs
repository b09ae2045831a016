//! A volume that begins on an SSD and goes on on a hard disk, as tiers, hybrid drives and caches do.

use crate::home::{Home, measured, shipped, truth};
use judge::document::covers;
use model::finding::FindingCode;

/// Of the SSD's part: "about 40 % was never written, or discarded"; the access time up to a third too long; and a gain of 60 to 140, since
/// quick reads completed until slow ones filled the queue. Of one in three reads from SSDs: "as with constant other I/O".
#[test]
fn a_disk_behind_an_ssd_is_measured_as_what_it_is() {
    let home = Home::new();
    for (ssd, ssds, disk) in
        [("970-pro", 1, "sata-160gb"), ("970-pro", 1, "wd3000bkhg"), ("970-pro", 3, "st3000dm001")]
    {
        let members = [(ssd, ssds), (disk, 1)]
            .map(|(name, count)| format!("[[volume.members]]\nprofile = \"{name}\"\ncount = {count}\n"))
            .concat();
        let text = format!(
            "version = 1\nname = \"tiers\"\ndescription = \"two media\"\n[volume]\nkind = \"concatenation\"\n{members}"
        );
        let document = measured("check", &home.drive("tiers", &text).target, &["--deep"]);
        let (mut bytes, mut byte_seconds) = (0.0, 0.0);
        for (name, count) in [(ssd, f64::from(ssds)), (disk, 1.0)] {
            let capacity = count * shipped(name).capacity().expect("a sound drive").as_f64();
            bytes += capacity;
            byte_seconds += capacity * truth(&shipped(name), FindingCode::AccessTime);
        }
        let access = document.said(FindingCode::AccessTime);
        assert_eq!(
            covers(access, byte_seconds / bytes),
            Some(true),
            "{ssd}, {disk}: {access}, {}",
            byte_seconds / bytes
        );
        let unmapped = document.said(FindingCode::UnmappedRanges);
        assert_eq!(document.value(FindingCode::UnmappedRanges), None, "{unmapped}");
        // "10.2 ms" and "20.5 ms" of a disk that takes 8.5 and 16.8: seeks were drawn over the SSDs, too.
        for code in [FindingCode::SeekAverage, FindingCode::SeekFullStroke] {
            let (seek, known) = (document.said(code), truth(&shipped(disk), code));
            assert_ne!(covers(seek, known), Some(false), "{ssd}, {disk}: {seek}, {known}");
        }
        let gain = document.value(FindingCode::ConcurrencyGain);
        assert!(gain.is_none_or(|gain| gain < 4.0), "{}", document.said(FindingCode::ConcurrencyGain));
    }
}
