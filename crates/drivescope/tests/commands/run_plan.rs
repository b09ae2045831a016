//! `drivescope run`: plans, Iometer's and fio's files, on virtual drives.

use crate::program::Home;
use std::fs;

const ICF: &str = "Version 2006.07.27 \n'TEST SETUP ====\n'Run Time\n'\thours      minutes    seconds\n\t0          0          5\n\
    'END test setup\n'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\tall reads,NONE\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,100,100,100,0,1,0,0\n\
    'Access specification name,default assignment\n\thalf, half,NONE\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n\t65536,100,50,0,0,1,0,0\n'END access specifications\n";

#[test]
fn the_steps_of_each_kind_of_file_are_done_as_it_says() {
    let home = Home::new();
    let file = |name: &str, text: &str| {
        let path = home.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let icf = file("access.icf", ICF);
    let run = home.json(&["run", &icf, "sim:zoned", "--write", "--seed", "1"]);
    let phases = run["phases"].as_array().unwrap();
    assert_eq!(phases.len(), 2);
    assert_eq!((&phases[0]["name"], &phases[1]["name"]), (&"all reads".into(), &"half, half".into()));
    assert_eq!(phases[0]["experiment"], "run");
    assert!((phases[0]["seconds"].as_f64().unwrap() - 5.0).abs() < 0.1);
    assert_eq!(phases[0]["workload"]["block_sizes"][0]["bytes"], 4096);
    let share = phases[1]["by_operation"][0]["operations"].as_f64().unwrap()
        / phases[1]["operations"].as_f64().unwrap();
    assert!((share - 0.5).abs() < 0.05, "{share}");

    let fio = file("job.fio", "[a]\nrw=randread\nbs=8k\nsize=10%\nio_size=4m\n");
    let run = home.json(&["run", &fio, "sim:zoned", "--seed", "1"]);
    assert_eq!(run["phases"][0]["bytes"], 4 << 20);

    let plan = file(
        "plan.toml",
        "version = 1\n[[step]]\ndo = \"read\"\nblocks = \"1MiB\"\nbytes = \"64MiB\"\n[[step]]\ntime = \"2s\"\n",
    );
    let run = home.json(&["run", &plan, "sim:zoned", "--seed", "1"]);
    assert_eq!((&run["phases"][0]["bytes"], &run["phases"][1]["kind"]), (&(64 << 20).into(), &"idle".into()));
    let again = run["run"]["command"].as_str().unwrap();
    assert_eq!(again, format!("drivescope run {plan} sim:zoned --seed 1"));
}

/// The second run takes the place of the first when it is finished, and its page is made after that.
#[test]
fn a_repeated_run_shows_its_jobs_again() {
    let home = Home::new();
    let path = home.folder.path().join("job.fio");
    fs::write(&path, "[reads]\nrw=randread\nbs=8k\niodepth=4\nsize=10%\nio_size=4m\n").unwrap();
    for _ in 0..2 {
        let page = home.print(&["run", path.to_str().unwrap(), "sim:zoned", "--seed", "1"]);
        assert!(page.contains("  reads  read       8 KiB  4 "), "{page}");
    }
}

/// When the last of 1,024 random writes is taken, the cache holds hundreds of them: a second of seeks.
#[test]
fn a_long_flush_is_told_beside_its_writes() {
    let home = Home::new();
    let path = home.folder.path().join("job.fio");
    fs::write(&path, "[w]\nrw=randwrite\nbs=4k\niodepth=4\nsize=10%\nio_size=4m\n").unwrap();
    let page = home.print(&["run", path.to_str().unwrap(), "sim:sata-160gb", "--write", "--seed", "1"]);
    let told = page.lines().find(|line| line.contains("Flush after w: ")).unwrap_or_else(|| panic!("{page}"));
    assert!(told.contains("write throughput including it"), "{told}");
}

#[test]
fn what_writes_needs_consent_and_what_is_wrong_is_told_with_its_place() {
    let home = Home::new();
    let outcome = home.run(&["run", "jesd219", "sim:zoned"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("Add --write"), "{}", outcome.err);
    let outcome = home.run(&["run", "nothing", "sim:zoned"]);
    assert!(outcome.err.contains("jesd219"), "{}", outcome.err);
    let path = home.folder.path().join("job.fio");
    fs::write(&path, "[a]\nrw=read\nverify=md5\n").unwrap();
    let outcome = home.run(&["run", path.to_str().unwrap(), "sim:zoned"]);
    assert_eq!(outcome.status, Some(2));
    assert!(outcome.err.contains("job.fio, line 3: option `verify` is not supported"), "{}", outcome.err);
    assert!(home.runs().is_empty());
    let list = home.print(&["run", "--list"]);
    assert!(list.contains("mixed-writes") && list.contains("jesd219"), "{list}");
}

/// A drive that completes each request 100 µs after the one before: 10,000 IOPS, whatever is asked.
#[test]
fn each_phase_of_a_job_is_a_row_of_the_page() {
    let home = Home::new();
    let drive = home.folder.path().join("even.toml");
    let text = "version = 1\nname = \"even\"\ndescription = \"a test\"\nsources = [\"made up\"]\n\n[identity]\n\
                capacity_bytes = 1000000000\n\n[constant]\nlatency_us = 100.0\nservers = 1\n";
    fs::write(&drive, text).expect("a profile");
    let job = home.folder.path().join("mixed.fio");
    fs::write(&job, "[mixed]\nrw=randrw\nrwmixread=70\nbs=4k\niodepth=1\nruntime=4\ntime_based=1\n")
        .expect("a job");
    let (job, target) = (job.to_str().unwrap(), format!("sim:{}", drive.display()));
    let page = home.print(&["run", job, &target, "--write", "--seed", "1"]);
    let rows: Vec<&str> = page.lines().filter(|line| line.trim_start().starts_with("mixed  ")).collect();
    let iops =
        |row: &str| row.split_whitespace().nth(5).unwrap().replace(',', "").parse::<f64>().expect("IOPS");
    // Two of throughput, two of latency.
    assert_eq!(rows.len(), 4, "{page}");
    assert!(rows[0].contains("read") && rows[1].contains("write"), "{page}");
    assert!((iops(rows[0]) + iops(rows[1]) - 10_000.0).abs() < 2.0, "{page}");
    assert!((iops(rows[0]) - 7_000.0).abs() < 100.0, "{page}");
    assert!(rows[2].contains("read       100 µs ") && rows[3].contains("write      100 µs "), "{page}");
    assert!(
        page.contains("\nThroughput over time (log scale)\n")
            && page.contains("\nLatency percentiles (log scale)\n"),
        "{page}"
    );
    assert!(home.print(&["show"]).contains(rows[2]), "the page of a stored plan has its phases");
    let page = home.print(&["show", "--plain"]);
    assert!(page.contains(rows[2]) && !page.contains("Throughput over time"), "{page}");
    let post = home.print(&["show", "--post"]);
    assert!(post.starts_with("```\n") && post.ends_with("```\n") && post.lines().count() <= 13, "{post}");
}
