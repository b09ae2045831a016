//! What the readers make of files as the other programs write them, what they refuse, and that nothing makes them fail.

use super::*;
use model::experiment_name::ExperimentName;
use model::plan::PhaseKind;
use model::plan::StopCondition;
use model::range::ByteRange;
use model::units::{Bytes, Nanos};
use model::workload::{OperationMix, Pattern};
use proptest::prelude::*;

const ICF: &str = "Version 1.1.0 \n'TEST SETUP =====\n'Test Description\n\t\n'Run Time\n'\thours      minutes    seconds\n\
    \t0          1          30\n'Ramp Up Time (s)\n\t0\n'Record Results\n\tALL\n'Test Type\n\tNORMAL\n'END test setup\n\
    'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\t4K; 75% Read, 30% random,NONE\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,60,75,30,0,1,0,0\n\t65536,40,75,30,0,1,0,0\n\
    'Access specification name,default assignment\n\tsequential 8 MB,ALL\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t8388608,100,0,0,0,1,0,0\n'END access specifications\n\
    'MANAGER LIST ====\n'Manager ID, manager name\n\t1,HOST\n'Worker\n\tWorker 1\n'Worker type\n\tDISK\n\
    'Default target settings for worker\n'Number of outstanding IOs,test connection rate,transactions per connection\n\
    \t16,DISABLED,1\n'Disk maximum size,starting sector\n\t2000000,0\n'End default target settings for worker\n\
    'Assigned access specs\n\tsequential 8 MB\n\t4K; 75% Read, 30% random\n'End assigned access specs\n'End worker\n\
    'END manager list\nVersion 1.1.0 \n";

#[test]
fn an_iometer_file_gives_its_specifications_in_the_order_of_the_worker() {
    for text in [ICF.to_owned(), ICF.replace('\n', "\r\n")] {
        let file = icf::read(&text).unwrap();
        let names: Vec<&str> = file.steps.iter().map(|step| step.name.as_str()).collect();
        assert_eq!(names, ["sequential 8 MB", "4K; 75% Read, 30% random"]);
        let load = file.steps[1].load.as_ref().unwrap();
        assert_eq!(load.blocks, [(Bytes::new(4096), 0.6), (Bytes::new(65536), 0.4)]);
        assert_eq!(
            (load.depth, &load.shape, load.over),
            (16, &Shape::Mixed(0.3), Some(Amount::Bytes(Bytes::new(1_024_000_000))))
        );
        assert!((load.reads.unwrap() - 0.75).abs() < 1e-12);
        assert_eq!(file.steps[0].stop.time, Some(Nanos::from_secs(90)));
        assert_eq!(file.steps[0].load.as_ref().unwrap().reads, Some(0.0));
        assert!(file.notes.is_empty());
    }
}

#[test]
fn what_an_iometer_file_asks_for_and_cannot_have_is_refused_with_its_line() {
    for (from, to, line, words) in [
        ("4096,60,75,30,0,1,0,0", "4096,60,75,30,5,1,0,0", 19, "delay"),
        ("4096,60,75,30,0,1,0,0", "4096,60,75,30,0,1,0", 19, "8 are needed"),
        ("4096,60,75", "4096,70,75", 17, "add up to 110 %"),
        ("4096,60,75", "0,60,75", 19, "size: 0"),
        ("NORMAL", "CYCLE_OUTSTANDING_IOS", 13, "CYCLE_OUTSTANDING_IOS"),
        ("Version 1.1.0 \n'TEST", "Version 3.0 \n'TEST", 1, "version 3.0"),
        ("\tsequential 8 MB\n", "\tsequential 9 MB\n", 40, "not specified"),
    ] {
        let Flaw { line: found, reason } = icf::read(&ICF.replacen(from, to, 1)).unwrap_err();
        let reason = reason.to_string();
        assert_eq!(found, Some(line), "{to}: {reason}");
        assert!(reason.contains(words), "{to}: {reason}");
    }
    let two = ICF.replacen("'End worker\n", "'End worker\n'Worker\n\tWorker 2\n'End worker\n", 1);
    assert!(icf::read(&two).unwrap().notes[0].contains("2 workers in parallel"));
    assert!(icf::read("").unwrap_err().reason.to_string().contains("no access specification"));
}

#[test]
fn lines_that_differ_are_drawn_apart_and_that_is_said() {
    let file = icf::read(&ICF.replacen("65536,40,75,30", "65536,40,0,100", 1)).unwrap();
    assert_eq!(file.notes.len(), 1);
    let load = file.steps[1].load.as_ref().unwrap();
    assert!((load.reads.unwrap() - 0.45).abs() < 1e-12);
}

const FIO: &str = "; a comment\n[global]\nioengine=libaio\ndirect=1\nbs=4k\niodepth=32\nruntime=60\ntime_based\n\
    filename=/dev/nvme0n1\n\n[random-read]\nrw=randread\nnumjobs=4\n\n[mix]\nstonewall\nrw=randrw\nrwmixread=70\n\
    bssplit=4k/60:64k/30:32k\noffset=10%\nsize=50%\nrate=64m # as fast as an application\n";

#[test]
fn a_fio_job_file_gives_its_jobs_with_the_global_options() {
    let file = fio::read(FIO).unwrap();
    let load = file.steps[0].load.as_ref().unwrap();
    assert_eq!((load.depth, load.threads, &load.shape, load.reads), (32, 4, &Shape::RandomOnce, Some(1.0)));
    assert_eq!(file.steps[0].stop, Stop { time: Some(Nanos::from_secs(60)), ..Stop::default() });
    let load = file.steps[1].load.as_ref().unwrap();
    assert_eq!(load.reads, Some(0.7));
    assert_eq!((load.from, load.over), (Amount::Share(0.1), Some(Amount::Share(0.5))));
    let shares: Vec<u64> =
        load.blocks.iter().map(|(size, share)| size.get() * (share * 100.0).round() as u64).collect();
    assert_eq!(shares, [4096 * 60, 65536 * 30, 32768 * 10]);
    let mean = 0.6 * 4096.0 + 0.3 * 65536.0 + 0.1 * 32768.0;
    assert!((load.per_second.unwrap() - 64.0 * 1_048_576.0 / mean).abs() < 1e-6);
}

#[test]
fn a_fio_job_without_a_time_ends_with_its_size() {
    let file = fio::read(
        "[a]\nrw=write\nbs=1m\nsize=1g\nloops=2\n[b]\nstonewall\nrw=read\nio_size=10g\nruntime=5m\n",
    )
    .unwrap();
    assert_eq!(file.steps[0].stop, Stop { passes: Some(2), ..Stop::default() });
    let bytes = Some(Amount::Bytes(Bytes::from_gib(10)));
    assert_eq!(file.steps[1].stop, Stop { time: Some(Nanos::from_secs(300)), bytes, ..Stop::default() });
}

#[test]
fn what_fio_could_do_and_this_program_cannot_is_refused_with_its_line() {
    for (text, line, words) in [
        ("[a]\nrw=read\n[b]\nrw=write\n", 3, "same time"),
        ("[a]\nrw=trim\n", 2, "`trim`"),
        ("[a]\nrw=read\nverify=crc32c\n", 3, "option `verify` is not supported"),
        ("[a]\nrw=read\ndirect=0\n", 3, "page cache"),
        ("[a]\nbs=4k,8k\n", 2, "give one"),
        ("[a]\nbs=64ki\n", 2, "write k"),
        ("[a]\nbs=1g\n", 2, "above the largest"),
        ("[a]\ntime_based\n", 2, "needs `runtime`"),
        ("bs=4k\n[a]\n", 1, "before the first section"),
        ("[a\n", 1, "ends with ]"),
        ("[a]\nbssplit=4k/50:8k/20\n", 2, "70 %"),
        ("[a]\niodepth=0\n", 2, "1 to"),
    ] {
        let Flaw { line: found, reason } = fio::read(text).unwrap_err();
        let reason = reason.to_string();
        assert_eq!(found, Some(line), "{text}: {reason}");
        assert!(reason.contains(words), "{text}: {reason}");
    }
    assert!(fio::read("[global]\nbs=4k\n").unwrap_err().reason.to_string().contains("no job"));
}

#[test]
fn what_is_wrong_in_a_plan_is_told_with_its_line() {
    let plan = |body: &str| format!("version = 1\n[[step]]\n{body}\n");
    for (text, line, words) in [
        ("version = 2\nanything = 1\n".to_owned(), 1, "version 1, not 2"),
        (plan("do = \"write\"\nblocks = \"4KiB\"\nwrong = 1"), 5, "wrong"),
        (plan("do = \"wrote\"\nblocks = \"4KiB\"\ntime = \"1s\""), 2, "`wrote`"),
        (plan("do = \"mix\"\nblocks = \"4KiB\"\ntime = \"1s\""), 2, "needs `reads`"),
        (plan("do = \"write\"\ntime = \"1s\""), 2, "`blocks` is missing"),
        (plan("do = \"write\"\nblocks = \"1GiB\"\ntime = \"1s\""), 2, "above the largest"),
        (plan("do = \"write\"\nblocks = \"4KiB\"\nrandom = \"5%\""), 2, "belongs to pattern"),
        (plan("do = \"read\"\nblocks = \"4KiB\"\nrange = \"20%..10%\""), 2, "not a range"),
        (plan("kind = \"idle\""), 2, "needs a `time`"),
        (plan("do = \"read\"\nblocks = [{ size = \"4k\", share = \"90%\" }]"), 2, "90.0 %"),
        (plan("do = \"read\"\nblocks = \"4k\"\ndepth = 0"), 2, "not in 1 to"),
    ] {
        let Flaw { line: found, reason } = plan::read(&text).unwrap_err();
        let reason = reason.to_string();
        assert_eq!(found, Some(line), "{text}: {reason}");
        assert!(reason.contains(words), "{text}: {reason}");
    }
}

#[test]
fn the_plans_that_ship_are_what_they_say() {
    let facts = sim::open("zoned", 1).expect("a drive that ships").facts().clone();
    let range = ByteRange::whole(facts.capacity);
    for (name, block) in
        [("sequential-1-mib", 1 << 20), ("sequential-8-mib", 8 << 20), ("sequential-64-kib", 1 << 16)]
    {
        let phases = named(name).unwrap().phases(ExperimentName::Run, range, &facts, None).unwrap();
        let workload = phases[0].workload.as_ref().unwrap();
        assert_eq!(
            (phases.len(), workload.block_sizes.single(), workload.mix),
            (1, Some(Bytes::new(block)), OperationMix::Write)
        );
        assert_eq!(workload.pattern, Pattern::Sequential);
        assert_eq!(phases[0].stop, StopCondition::after(Nanos::from_secs(3600)));
    }
    let mixed = named("mixed-writes")
        .unwrap()
        .conditioning(ExperimentName::Valleys, range, &facts, Some(Nanos::from_secs(600)))
        .unwrap();
    assert_eq!(mixed[0].stop, StopCondition::after(Nanos::from_secs(600)));
    assert_eq!(mixed[0].workload.as_ref().unwrap().pattern, Pattern::Mixed { random_share: 0.5 });
    assert_eq!(mixed[0].kind, PhaseKind::Precondition);
    let jesd = named("jesd219").unwrap().phases(ExperimentName::Run, range, &facts, None).unwrap();
    let mix = jesd[1].workload.as_ref().unwrap();
    assert_eq!(mix.mix, OperationMix::ReadWrite { read_share: 0.4 });
    assert_eq!(mix.block_sizes.parts().len(), 12);
    assert_eq!(jesd[0].stop.passes, Some(1));
    assert!(named("pattern-of-nobody").is_none());
}

#[test]
fn a_size_below_the_drives_block_becomes_the_block() {
    let mut facts = sim::open("zoned", 1).expect("a drive that ships").facts().clone();
    facts.logical_block = Bytes::new(4096);
    let jesd = named("jesd219").unwrap();
    assert!(jesd.has_sizes_below(facts.logical_block));
    let phases = jesd.phases(ExperimentName::Run, ByteRange::whole(facts.capacity), &facts, None).unwrap();
    assert!(
        phases[1]
            .workload
            .as_ref()
            .unwrap()
            .block_sizes
            .parts()
            .iter()
            .all(|(size, _)| size.get() % 4096 == 0)
    );
}

#[test]
fn what_does_not_fit_the_range_or_has_no_end_is_refused() {
    let facts = sim::open("zoned", 1).expect("a drive that ships").facts().clone();
    let small = ByteRange::whole(Bytes::from_mib(1));
    let file = fio::read("[a]\nrw=read\nsize=1g\n").unwrap();
    assert!(
        file.phases(ExperimentName::Run, small, &facts, None)
            .unwrap_err()
            .to_string()
            .contains("Give a larger range")
    );
    let text = ICF.replacen("\t0          1          30", "\t0 0 0", 1);
    let file = icf::read(&text).unwrap();
    let whole = ByteRange::whole(facts.capacity);
    assert!(
        file.phases(ExperimentName::Run, whole, &facts, None).unwrap_err().to_string().contains("--each")
    );
    assert_eq!(file.phases(ExperimentName::Run, whole, &facts, Some(Nanos::from_secs(5))).unwrap().len(), 2);
}

#[test]
fn a_file_without_steps_or_with_another_ending_is_refused() {
    assert!(read("empty.toml", "version = 1\n").unwrap_err().to_string().contains("nothing to do"));
    assert!(read("notes.txt", "").unwrap_err().to_string().contains("ends in none of"));
    assert_eq!(read("/plans/mine.TOML", "\u{feff}version = 2\n").unwrap_err().flaw.line, Some(1));
}

/// Words that the formats are made of, so that texts drawn at random get past the first line.
fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "version = 1\n",
        "[[step]]\n",
        "do = \"write\"\n",
        "do = \"mix\"\n",
        "reads = \"40%\"\n",
        "blocks = \"4KiB\"\n",
        "blocks = []\n",
        "pattern = \"zoned\"\n",
        "zones = []\n",
        "time = \"1s\"\n",
        "bytes = \"9999999999999999999\"\n",
        "range = \"0..1\"\n",
        "passes = 18446744073709551615\n",
        "[global]\n",
        "[a]\n",
        "rw=randrw\n",
        "bs=4k\n",
        "bssplit=4k/:8k\n",
        "size=100%\n",
        "io_size=16777216t\n",
        "numjobs=4096\n",
        "loops=4294967295\n",
        "stonewall\n",
        "runtime=9999999999999\n",
        "rate=1\n",
        "'ACCESS SPECIFICATIONS\n",
        "'Access specification name,default\n",
        "\tx,NONE\n",
        "'size,% of size\n",
        "512,100,50,50,0,1,0,0\n",
        "'Run Time\n",
        "9999999999 9999999 9\n",
        "'Assigned access specs\n",
        "'Disk maximum size,starting sector\n",
        "18446744073709551615,18446744073709551615\n",
        "=",
        "%",
        "/",
        ":",
        "\u{feff}",
        "é",
        "\0",
    ]);
    prop::collection::vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn no_text_makes_a_reader_fail(text in prop_oneof!["\\PC{0,300}", words()], each in prop::option::of(0u64..u64::MAX)) {
        let facts = sim::open("zoned", 1).expect("a drive that ships").facts().clone();
        let range = ByteRange::whole(facts.capacity);
        for read in [icf::read, fio::read, plan::read] {
            if let Ok(file) = read(&text) {
                let _ = (file.phases(ExperimentName::Run, range, &facts, each.map(Nanos::new)), file.writes());
            }
        }
    }
}
