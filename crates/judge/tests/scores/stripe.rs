//! What `access` says of one drive and of several, against drives whose truth is known: members and chunk exactly, one
//! drive where there is one, and nothing where nothing can be seen.

use crate::home::{Home, measured, shipped};
use judge::access::score::is_same_layout;
use judge::document::Document;
use judge::truth::Truths;
use model::finding::FindingCode;

const CODE: FindingCode = FindingCode::StripeLayout;

fn accessed(target: &str) -> Document {
    let document = measured("access", target, &[]);
    assert!(document.finding(CODE).is_some(), "{target}: nothing is said");
    document
}

/// Hits, unknown ones and wrong ones of these drives.
fn score(names: impl Iterator<Item = String>) -> (usize, Vec<String>, Vec<String>) {
    let (mut hits, mut unknown, mut wrong) = (0, Vec::new(), Vec::new());
    for name in names {
        let document = accessed(&format!("sim:{name}"));
        let truths = Truths::of(&shipped(&name)).expect("a sound drive");
        let truth = truths.get(CODE);
        if document.value(CODE).is_none() {
            unknown.push(name);
        } else if truth.is_some_and(|truth| is_same_layout(document.said(CODE), truth)) {
            hits += 1;
        } else {
            wrong.push(format!("{name}: {}, truth {truth:?}", document.said(CODE)));
        }
    }
    (hits, unknown, wrong)
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn one_drive_and_several_are_told() {
    let names = ["raid0-3x64k", "raid1-2", "dt01aca300", "random-volume-1", "random-volume-9"];
    let (hits, unknown, wrong) = score(names.into_iter().map(String::from));
    // Counting the arms of a mirror is a matter of chance: one in twenty is not certain when the time is up.
    assert!(hits >= 4 && wrong.is_empty(), "{hits}, {unknown:?}, {wrong:?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn nothing_is_said_where_no_arm_moves() {
    for name in ["null", "constant", "970-pro"] {
        assert_eq!(accessed(&format!("sim:{name}")).value(CODE), None, "{name}");
    }
}

/// Three disks with chunks that are none of those looked for. A layout of more disks would explain some of the waiting, but three arms answer.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes in a debug build: run it with --release")]
fn chunks_that_are_not_looked_for_are_not_told_as_others() {
    for chunk_kib in [36, 44, 32_768] {
        let home = Home::new();
        let chunk = format!("chunk_kib = {chunk_kib}");
        let drive = home.changed("raid0-3x64k", &[("chunk_kib = 64", &chunk)], "");
        let told = accessed(&drive.target).value(CODE);
        assert!(told.is_none_or(|members| members == 3.0), "{chunk_kib} KiB: {told:?}");
    }
}

/// Of disks one after the other: "RAID members: inconclusive" in 45 s, and "a single actuator serves all reads" where the first is an eighth.
#[test]
fn members_one_after_the_other_are_told_with_their_borders() {
    let home = Home::new();
    for (names, begins) in [
        (["exos-x20", "exos-x20"], shipped("exos-x20").capacity()),
        (["wd3000bkhg", "wd20ears"], shipped("wd3000bkhg").capacity()),
    ] {
        let members =
            names.map(|name| format!("[[volume.members]]\nprofile = \"{name}\"\ncount = 1\n")).concat();
        let text = format!(
            "version = 1\nname = \"joined\"\ndescription = \"one after the other\"\n[volume]\nkind = \"concatenation\"\n{members}"
        );
        let document = accessed(&home.drive("joined", &text).target);
        assert_eq!(document.value(CODE), Some(2.0), "{names:?}: {}", document.said(CODE));
        let data = &document.said(CODE)["data"];
        let [low, high] = ["low", "high"].map(|end| data["begins"][0][end].as_u64().expect("a border"));
        assert!((low..=high).contains(&begins.expect("a sound drive").get()), "{names:?}: {data}");
        assert_eq!(data["kind"], "concatenation");
    }
}

/// Four drives that answer where the stripe has two members: "RAID 0, 2 members" beside a share of pairs that two cannot have.
#[test]
fn a_stripe_over_mirrors_is_told_as_one() {
    let text = "version = 1\nname = \"ten\"\ndescription = \"a stripe over mirrors\"\n[volume]\nkind = \"stripe\"\n\
        [[volume.members]]\nprofile = \"raid1-2\"\ncount = 2\n";
    let document = accessed(&Home::new().drive("ten", text).target);
    let said = document.said(CODE);
    assert_eq!((document.value(CODE), said["data"]["copies"].as_u64()), (Some(4.0), Some(2)), "{said}");
}

/// Linux sends each read of a busy mirror of disks to the nearest head, so that near ones are seldom answered side by side: "several
/// actuators, but not for any two reads".
#[test]
fn a_linux_mirror_of_disks_is_told() {
    for (count, members) in [(2, 2.0), (3, 3.0)] {
        let text = format!(
            "version = 1\nname = \"md\"\ndescription = \"a mirror\"\n[volume]\nkind = \"mirror\"\nread_policy = \"nearest\"\n\
            [[volume.members]]\nprofile = \"st3000dm001\"\ncount = {count}\n"
        );
        let document = accessed(&Home::new().drive("md", &text).target);
        let said = document.said(CODE);
        assert_eq!(
            (document.value(CODE), &said["data"]["kind"]),
            (Some(members), &"mirror".into()),
            "{said}"
        );
    }
}

/// Network volumes of 7 and 4 ms that report rotation, whose four servers answer as the disks of a mirror do: two of 100 were told as RAID 1
/// of four members.
#[test]
fn servers_of_a_network_volume_are_no_mirror() {
    for number in [1538871, 1538886] {
        let said = accessed(&format!("sim:random-remote-{number}"));
        assert_eq!(said.value(CODE), None, "{number}: {}", said.said(CODE));
    }
}

/// A network volume of 1.5 ms and more, of which a limit lets one read through at a time: "RAID 1 (mirrored): 2 members share the reads", and
/// "a single actuator serves all reads".
#[test]
fn a_limit_is_no_actuator() {
    for rotational in [true, false] {
        let text = format!(
            "version = 1\nname = \"slow\"\ndescription = \"a volume behind a limit\"\n\
            [identity]\ncapacity_bytes = 130_000_000_000\nrotational = {rotational}\n\
            [constant]\nlatency_us = 1700.0\nservers = 64\njitter = 0.45\n\
            [limit]\niops = 574.0\n"
        );
        let document = accessed(&Home::new().drive("slow", &text).target);
        assert_eq!(document.value(CODE), None, "{}", document.said(CODE));
    }
    // Quick until its credit is spent, so that no mechanics are measured.
    let text = "version = 1\nname = \"slow\"\ndescription = \"a volume behind a limit\"\n\
        [identity]\ncapacity_bytes = 130_000_000_000\nrotational = false\n\
        [constant]\nlatency_us = 600.0\nservers = 64\njitter = 0.8\n\
        [limit]\niops = 337.0\nrequest_kib = 4.0\ncredit_requests = 5842.0\n";
    let document = measured("check", &Home::new().drive("slow", text).target, &["--deep"]);
    assert_eq!(document.value(CODE), None, "{}", document.said(CODE));
}

#[test]
#[ignore = "300 drives take half an hour"]
fn drawn_drives_are_told() {
    let volumes = (0..200).map(|number| format!("random-volume-{number}"));
    let (hits, unknown, wrong) = score(volumes);
    // A mirror that reads one of its drives only cannot be told from one drive, and some are drawn.
    println!("volumes: {hits} told, {} unknown, wrong {wrong:#?}", unknown.len());
    assert!(
        wrong.iter().all(|line| line.contains("truth Some(Truth { ") && line.contains("kind: \"mirror\""))
    );
    let disks = (0..100).map(|number| format!("random-hard-disk-{number}"));
    let (hits, unknown, wrong) = score(disks);
    println!("disks: {hits} told, unknown {unknown:?}, wrong {wrong:#?}");
    assert!(hits >= 98 && wrong.is_empty());
}
