//! Profiles that can be, and what is said of those that cannot.

use super::*;
use proptest::prelude::*;

const SOUND: &str = "version = 1\nname = \"mine\"\ndescription = \"a drive\"\n[identity]\ncapacity_bytes = 1048576\n\
                     [constant]\nlatency_us = 100.0\n";

fn refusal(text: &str) -> String {
    Profile::parse(text, "mine.toml").unwrap_err().to_string()
}

#[test]
fn every_preset_opens_under_its_own_name() {
    for name in preset_names() {
        let profile = preset(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(profile.name, name);
        let drive = open(name, 1).unwrap();
        assert_eq!(drive.facts().path, format!("sim:{name}"));
        assert_eq!(drive.facts().capacity, profile.capacity().unwrap());
        assert!(!profile.sources.is_empty(), "{name} says where its numbers come from");
    }
}

#[test]
fn a_profile_written_out_reads_the_same() {
    for name in preset_names() {
        let profile = preset(name).unwrap();
        let text = toml::to_string(&profile).unwrap();
        assert_eq!(Profile::parse(&text, "copy").unwrap(), profile, "{name}");
    }
}

#[test]
fn an_unknown_name_says_which_is_near() {
    let error = open("zone", 1).err().unwrap();
    assert_eq!(
        error.to_string(),
        "there is no virtual drive `zone`; did you mean `zoned`? See them all: drivescope sim list"
    );
    // A short word is near to everything.
    assert!(!open("/tmp", 1).err().unwrap().to_string().contains("did you mean"));
    let error = open("a-drive-of-my-own", 1).err().unwrap();
    assert_eq!(
        error.to_string(),
        "there is no virtual drive `a-drive-of-my-own`. See them all: drivescope sim list"
    );
}

#[test]
fn errors_name_file_line_and_reason() {
    assert!(Profile::parse(SOUND, "mine.toml").is_ok());
    let with = |from: &str, to: &str| refusal(&SOUND.replace(from, to));
    assert_eq!(
        with("latency_us", "latencyus"),
        "mine.toml, line 7: there is no key `latencyus` here; did you mean `latency_us`?"
    );
    assert_eq!(
        with("[constant]", "[constant]\nfrobnication = 1"),
        "mine.toml, line 7: there is no key `frobnication` here; what can stand here: latency_us, servers, write_latency_us, jitter"
    );
    assert_eq!(
        with("100.0", "-1.0"),
        "mine.toml, line 7: constant.latency_us: -1 is not between 0 and 10000000"
    );
    assert_eq!(
        with("100.0", "nan"),
        "mine.toml, line 7: constant.latency_us: NaN is not between 0 and 10000000"
    );
    assert_eq!(with("100.0", "\"fast\""), "mine.toml, line 7: a number is needed here, not \"fast\"");
    assert_eq!(
        with("1048576", "1e12"),
        "mine.toml, line 5: a whole number of at least 0 is needed here, not 1000000000000.0"
    );
    assert_eq!(
        with("1048576", "-4096"),
        "mine.toml, line 5: a whole number of at least 0 is needed here, not -4096"
    );
    assert_eq!(
        with("[constant]", "rotational = 1\n[constant]"),
        "mine.toml, line 6: true or false is needed here, not 1"
    );
    assert_eq!(
        with("[constant]", "[link]\nkind = \"sata6\"\n[constant]"),
        "mine.toml, line 7: `sata6` is not one of usb-2-bot, usb-3-bot, usb-3-uas, usb-3.2-uas, sata-1.5, sata-3, \
         sata-6, sas-12, nvme; did you mean `sata-6`?"
    );
    assert_eq!(
        with("1048576", "99999999999999999999"),
        "mine.toml, line 5: a whole number of at least 0 is needed here, not 99999999999999999999"
    );
    assert_eq!(with("version = 1", "version = 2"), "mine.toml, line 1: this program reads version 1, not 2");
    assert_eq!(with("version = 1\n", ""), "mine.toml, line 1: the key `version` is missing");
    assert_eq!(
        with("1048576", "1000"),
        "mine.toml, line 5: identity.capacity_bytes: 1000 is not a positive multiple of the logical block of 512"
    );
    assert_eq!(
        with("capacity_bytes = 1048576\n", ""),
        "mine.toml, line 4: identity.capacity_bytes: what the drive holds is missing"
    );
    assert!(with("[constant]", "[smr]").contains("line 7: there is no key `latency_us`"));
    assert!(with("description", "= description").starts_with("mine.toml, line 3: "));
}

/// The preset with something changed, and what is then said of it, without the file and the line.
fn refused(name: &str, from: &str, to: &str) -> String {
    let text = preset_text(name).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    let said = refusal(&text.replacen(from, to, 1));
    let (_, reason) = said.split_once(": ").unwrap();
    assert!(said.starts_with("mine.toml, line "), "{said}");
    reason.to_string()
}

#[test]
fn a_disk_that_does_not_add_up_says_why() {
    for (name, from, to, reason) in [
        (
            "st3000dm001",
            "capacity_bytes = 3000592982016",
            "capacity_bytes = 1000592982016",
            "disk.geometry.zones: the last zone begins at byte 2945988935680, past the capacity of 1000592982016: it \
             would hold nothing",
        ),
        (
            "st3000dm001",
            "capacity_bytes = 3000592982016",
            "capacity_bytes = 3900592982016",
            "disk.geometry.zones: the zones hold 3000596807680 bytes, less than the capacity of 3900592982016",
        ),
        (
            "smr-2tb",
            "sectors_per_track_inner = 229",
            "sectors_per_track_inner = 929",
            "disk.geometry.generated_zones.sectors_per_track_inner: the inner tracks are the shorter ones, so they \
             hold no more than the 493 sectors of the outer",
        ),
        (
            "smr-2tb",
            "average_ms = 8.5",
            "average_ms = 18.5",
            "disk.seek: a seek takes more than nothing to the next track, no less on average, and no less than that \
             from edge to edge; not 0.8, 18.5 and 17.0 ms",
        ),
        (
            "st3000dm001",
            "[disk.seek.table]",
            "[disk.seek.data_sheet]\ntrack_to_track_ms = 1\naverage_ms = 8\nfull_stroke_ms = 16\n[disk.seek.table]",
            "exactly one of the sections that can stand here is needed, and there are several",
        ),
        // 4 spare cylinders of 2570 + 2623 + 2729 + 2676 sectors of 512 bytes.
        (
            "failing-disk",
            "bytes = 40960",
            "bytes = 40960000",
            "disk.defects.0.bytes: the spare cylinders of its zone hold 21704704 bytes, less than what is remapped in \
             it",
        ),
        ("660p", "page_kib = 16", "page_kib = 12", "flash.page_kib: must be a power of two"),
        (
            "raid0-3x64k",
            "profile = \"hds723030ala640\"",
            "profile = \"hds723030ala64\"",
            "volume.members.0.profile: there is no virtual drive `hds723030ala64`; did you mean `hds723030ala640`? \
             See them all: drivescope sim list",
        ),
    ] {
        assert_eq!(refused(name, from, to), reason);
    }
}

#[test]
fn what_was_discarded_lies_in_order_on_a_filled_drive() {
    for (name, from, to, reason) in [
        (
            "660p",
            "[flash.buffer]",
            "[[flash.discarded]]\nfirst_byte = 0\nbytes = 4096\n[flash.buffer]",
            "flash.discarded: is of a drive with initial = \"filled\"",
        ),
        (
            "970-pro",
            "[flash.buffer]",
            "[[flash.discarded]]\nfirst_byte = 8192\nbytes = 4096\n[[flash.discarded]]\nfirst_byte = 8192\nbytes = 1\n[flash.buffer]",
            "flash.discarded.1.first_byte: lies before the end of the range before it",
        ),
        (
            "970-pro",
            "[flash.buffer]",
            "[[flash.discarded]]\nfirst_byte = 8192\nbytes = 9000000000000000000\n[flash.buffer]",
            "flash.discarded.0.bytes: reaches past the end of the drive",
        ),
    ] {
        assert_eq!(refused(name, from, to), reason);
    }
}

#[test]
fn a_drive_is_one_thing() {
    let none = SOUND.split("[constant]").next().unwrap();
    assert!(refusal(none).contains("this one has none of them"));
    let two = format!("{SOUND}[volume]\nkind = \"stripe\"\nmembers = []\n");
    assert!(refusal(&two).contains("this one has several of them"));
}

#[test]
fn a_volume_knows_its_members_and_what_it_holds() {
    let volume = |members: &str| {
        format!(
            "version = 1\nname = \"v\"\ndescription = \"v\"\n[volume]\nkind = \"stripe\"\nmembers = [{members}]\n"
        )
    };
    let sound = Profile::parse(&volume("{ profile = \"constant\", count = 3 }"), "v.toml").unwrap();
    assert_eq!(sound.capacity().unwrap().get(), 3_000_000_000_000 / (3 * 65_536) * (3 * 65_536));
    assert!(refusal(&volume("{ profile = \"constnt\" }")).contains("did you mean `constant`"));
    assert!(refusal(&volume("")).contains("line 6"));
}

proptest! {
    /// Whatever the text, the answer is a profile or a reason.
    #[test]
    fn no_text_brings_it_down(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Profile::parse(&String::from_utf8_lossy(&bytes), "x");
    }

    /// A preset of which a piece is lost, doubled or replaced is read or refused, and what is read opens.
    #[test]
    fn a_damaged_preset_is_read_or_refused(
        which in 0usize..64, cut in any::<prop::sample::Index>(), length in 0usize..40, instead in "[0-9a-z_.=\\[\\]\" -]{0,12}",
    ) {
        let names: Vec<&str> = preset_names().collect();
        let text = preset_text(names[which % names.len()]).unwrap();
        let from = cut.index(text.len());
        let from = (0..=from).rev().find(|&at| text.is_char_boundary(at)).unwrap();
        let to = (from + length).min(text.len());
        let to = (to..=text.len()).find(|&at| text.is_char_boundary(at)).unwrap();
        let damaged = format!("{}{instead}{}", &text[..from], &text[to..]);
        if let Ok(profile) = Profile::parse(&damaged, "damaged.toml") {
            prop_assert!(open_profile(&profile, "sim:damaged", 1).is_ok());
        }
    }
}
