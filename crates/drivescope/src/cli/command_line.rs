//! The command that asks for the same again, made of the options as they are stored.

use clap::builder::ValueParser;
use clap::{Arg, Args, Command, Subcommand};
use experiment::request::Request;
use model::quantity_text::{duration_text, share_text, size_text};
use model::share::Share;
use model::units::{Bytes, Nanos};
use report::shell_words::quoted;
use serde::Serialize;
use serde_json::Value;
use std::any::TypeId;

/// Behind the options that only some commands have come these, in this order.
const SHARED: [&str; 14] = [
    "write",
    "destroy_data",
    "preserve",
    "journal_anyway",
    "polled",
    "trace",
    "journal",
    "confirm",
    "max_size",
    "range",
    "time_limit",
    "precision",
    "engine",
    "seed",
];

pub fn of_request(request: &Request) -> String {
    let document = document(request);
    let name = document["experiment"].as_str().expect("a request is tagged by its experiment").to_string();
    let commands = Request::augment_subcommands(Command::new("drivescope"));
    let command = commands.find_subcommand(&name).expect("each request is a command");
    line(&name, command, &document)
}

pub fn of_options<Options: Args + Serialize>(name: &str, options: &Options) -> String {
    let command = Options::augment_args(Command::new("options"));
    line(name, &command, &document(options))
}

fn document(options: &impl Serialize) -> Value {
    serde_json::to_value(options).expect("options are structs with string keys")
}

fn line(name: &str, command: &Command, document: &Value) -> String {
    let mut words = vec!["drivescope".to_string(), name.to_string()];
    for argument in command.get_positionals() {
        words.extend(words_of(argument, document));
    }
    for argument in command.get_arguments() {
        if !argument.is_positional() && !SHARED.contains(&argument.get_id().as_str()) {
            words.extend(words_of(argument, document));
        }
    }
    for id in SHARED {
        if let Some(argument) = command.get_arguments().find(|argument| argument.get_id() == id) {
            words.extend(words_of(argument, document));
        }
    }
    words.join(" ")
}

fn words_of(argument: &Arg, document: &Value) -> Vec<String> {
    let parser = argument.get_value_parser();
    let texts: Vec<String> = match document.get(argument.get_id().as_str()) {
        None | Some(Value::Null | Value::Bool(false)) => return Vec::new(),
        Some(Value::Bool(true)) => Vec::new(),
        Some(Value::Array(items)) if items.is_empty() => return Vec::new(),
        Some(Value::Array(items)) => items.iter().map(|item| text_of(item, parser)).collect(),
        Some(item) => vec![text_of(item, parser)],
    };
    let Some(name) = argument.get_long() else {
        return texts.iter().map(|text| quoted(text)).collect();
    };
    let text = quoted(&texts.join(","));
    if argument.get_default_values().iter().any(|usual| *usual == *text) {
        return Vec::new();
    }
    match texts.is_empty() {
        true => vec![format!("--{name}")],
        false if argument.is_require_equals_set() => vec![format!("--{name}={text}")],
        false => vec![format!("--{name}"), text],
    }
}

/// A value as it is typed: quantities are stored in base units.
fn text_of(value: &Value, parser: &ValueParser) -> String {
    let kind = parser.type_id();
    match (value, value.as_u64(), value.as_f64()) {
        (Value::String(text), ..) => text.clone(),
        (_, Some(bytes), _) if kind == TypeId::of::<Bytes>() => size_text(Bytes::new(bytes)),
        (_, Some(nanos), _) if kind == TypeId::of::<Nanos>() => duration_text(Nanos::new(nanos)),
        (_, _, Some(share)) if kind == TypeId::of::<Share>() => share_text(share),
        _ => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::{Arguments, Command as ProgramCommand};
    use super::*;
    use clap::Parser;
    use experiment::access::AccessRequest;
    use experiment::check::CheckRequest;
    use experiment::files::{FileSizes, FilesRequest, TaskGroup};
    use experiment::ping::PingRequest;
    use experiment::plan_file::RunRequest;
    use experiment::request::{DriveOptions, EngineChoice, WritingOptions};
    use experiment::sizes::SizesRequest;
    use experiment::surface::SurfaceRequest;
    use experiment::sustain::{SustainRequest, Until, WritePattern};
    use experiment::valleys::{Amount, Area, Condition, ValleysRequest, Way};
    use experiment::verify::VerifyRequest;
    use model::range_choice::RangeChoice;
    use proptest::collection::vec;
    use proptest::option::of;
    use proptest::prelude::*;
    use proptest::sample::select;

    fn parsed(command: &str) -> Request {
        let words = shlex::split(command).expect("quotes that end");
        match Arguments::try_parse_from(words).expect(command).command {
            Some(ProgramCommand::Measure(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_command_comes_back_as_it_was_typed() {
        for typed in [
            "drivescope check sim:zoned --write --range 10%..20% --time-limit 20s --seed 7",
            "drivescope surface sim:zoned --areas 20 --area-size 2GiB --seed 1",
            "drivescope valleys sim:hdd --condition mixed:10min,none --over 0%..25%,25%..50% --write --time-limit 20m",
            "drivescope sustain /dev/sdx --pattern mixed:30% --until levels --idle=1s,5s --write --confirm S1",
            "drivescope run 'my plan.toml' /dev/sdx --each 90s --max-size 100MB",
            "drivescope files /outer /inner --compare --tasks blocks,seeks --size 64MiB --file-size 1KiB..2KiB --seed 7",
        ] {
            assert_eq!(of_request(&parsed(typed)), typed);
        }
        let usual = "drivescope access .";
        assert_eq!(of_request(&parsed("drivescope access --engine auto --max-size 4096MiB")), usual);
        assert_eq!(parsed(usual), Request::Access(AccessRequest::default()));
        assert_eq!(parsed("drivescope files"), Request::Files(FilesRequest::default()));
        assert_eq!(quoted("/tmp/a disk"), "'/tmp/a disk'");
    }

    fn share() -> impl Strategy<Value = Share> {
        (1u32..=999).prop_map(|permille| Share::new(f64::from(permille) / 1000.0).expect("within 0 to 1"))
    }

    fn size() -> impl Strategy<Value = Bytes> {
        prop_oneof![(1u64..1 << 40).prop_map(Bytes::new), (1u64..4000).prop_map(Bytes::from_mib)]
    }

    fn time() -> impl Strategy<Value = Nanos> {
        prop_oneof![(1u64..100_000).prop_map(Nanos::from_secs), (1u64..100_000).prop_map(Nanos::from_millis)]
    }

    fn range() -> impl Strategy<Value = RangeChoice> {
        prop_oneof![
            (0u64..1000, 1u64..1000)
                .prop_map(|(from, more)| RangeChoice::Bytes(Bytes::new(from), Bytes::new(from + more))),
            (0u32..500, 501u32..=1000)
                .prop_map(|(from, to)| RangeChoice::Shares(f64::from(from) / 1000.0, f64::from(to) / 1000.0)),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        "[a-zA-Z0-9/'\" $.][a-zA-Z0-9/'\" $.-]{0,12}"
    }

    fn drive() -> impl Strategy<Value = DriveOptions> {
        let engine = select(vec![EngineChoice::Auto, EngineChoice::Uring, EngineChoice::Psync]);
        let writing = (any::<bool>(), any::<bool>(), of(text()), any::<bool>()).prop_map(writing_of);
        (
            text(),
            size(),
            of(range()),
            of(time()),
            of(share()),
            of(any::<u64>()),
            engine,
            any::<bool>(),
            writing,
        )
            .prop_map(
                |(target, max_size, range, time_limit, precision, seed, engine, trace, writing)| {
                    DriveOptions {
                        target,
                        max_size,
                        range,
                        time_limit,
                        precision,
                        seed,
                        engine,
                        trace,
                        writing,
                        ..DriveOptions::default()
                    }
                },
            )
    }

    fn writing_of(
        (write, preserve, confirm, journal_anyway): (bool, bool, Option<String>, bool),
    ) -> WritingOptions {
        if !write {
            return WritingOptions::default();
        }
        WritingOptions {
            write,
            preserve,
            destroy_data: !preserve,
            confirm,
            journal: None,
            journal_anyway: preserve && journal_anyway,
        }
    }

    fn condition() -> impl Strategy<Value = Condition> {
        prop_oneof![
            Just(Condition::None),
            Just(Condition::Halves),
            Just(Condition::Mixed(Amount::HalfOfArea)),
            size().prop_map(|size| Condition::Random(Amount::Bytes(size))),
            time().prop_map(|time| Condition::Mixed(Amount::Time(time))),
            size().prop_map(Condition::Sequential),
            of(time()).prop_map(|each| Condition::Plan { name: "mixed-writes".into(), each }),
        ]
    }

    fn area() -> impl Strategy<Value = Area> {
        prop_oneof![Just(Area::Whole), Just(Area::Halves), range().prop_map(Area::Part)]
    }

    fn depths() -> impl Strategy<Value = Vec<u32>> {
        vec(1u32..=4096, 0..4)
    }

    fn reads() -> impl Strategy<Value = Request> {
        prop_oneof![
            drive().prop_map(|drive| Request::Check(CheckRequest { drive, deep: false })),
            (drive(), of(1u64..99), of(size()), any::<bool>()).prop_map(|(drive, areas, size, full)| {
                let verify = full && drive.writing.write;
                let areas = areas.filter(|_| !full);
                let area_size = size.filter(|_| areas.is_some());
                Request::Surface(SurfaceRequest { drive, areas, area_size, full, verify, adaptive: false })
            }),
            (drive(), depths(), depths(), vec(size(), 0..3), vec(share(), 0..3), any::<bool>(), of(time()))
                .prop_map(|(drive, depths, threads, blocks, spans, buffered, latency_budget)| {
                    let with_replacement = !buffered;
                    Request::Access(AccessRequest {
                        drive,
                        depths,
                        threads,
                        blocks,
                        spans,
                        with_replacement,
                        latency_budget,
                        buffered,
                    })
                }),
        ]
    }

    fn writes() -> impl Strategy<Value = Request> {
        let pattern = prop_oneof![
            Just(WritePattern::Random),
            Just(WritePattern::Sequential),
            share().prop_map(|share| WritePattern::Mixed(share.get())),
        ];
        let until = select(vec![Until::Cliff, Until::Levels, Until::Steady]);
        prop_oneof![
            (drive(), of(pattern), of(size()), of(share()), until, vec(time(), 0..3), vec(share(), 0..3))
                .prop_map(|(drive, pattern, block, read, until, idle, clip)| {
                    let sustain = SustainRequest {
                        drive,
                        pattern,
                        block,
                        read,
                        until,
                        idle,
                        clip,
                        ..SustainRequest::default()
                    };
                    Request::Sustain(sustain)
                }),
            (drive(), vec(condition(), 0..3), vec(area(), 0..3), of(1u32..99)).prop_map(
                |(drive, condition, over, passes)| {
                    let way = passes.map(|_| Way::Crossing);
                    Request::Valleys(ValleysRequest {
                        drive,
                        condition,
                        over,
                        passes,
                        way,
                        blocks: Vec::new(),
                    })
                }
            ),
        ]
    }

    fn others() -> impl Strategy<Value = Request> {
        prop_oneof![
            (drive(), text(), of(time())).prop_map(|(drive, plan, each)| Request::Run(RunRequest {
                drive,
                plan: Some(plan),
                each,
                list: false
            })),
            (drive(), vec(size(), 0..3), depths(), of(1u32..=100)).prop_map(
                |(drive, sizes, depths, rounds)| Request::Sizes(SizesRequest {
                    drive,
                    sizes,
                    depths,
                    rounds
                })
            ),
            (drive(), of(1u32..=10_000), of(size()))
                .prop_map(|(drive, rate, block)| Request::Ping(PingRequest { drive, rate, block })),
            (drive(), of(1u32..=100), any::<bool>()).prop_map(|(drive, passes, write_only)| {
                let full = passes.is_some();
                Request::Verify(VerifyRequest { drive, full, passes, write_only, ..VerifyRequest::default() })
            }),
            (vec(text(), 1..3), of(size()), size(), any::<bool>(), of(share())).prop_map(
                |(folders, size, most, compare, precision)| {
                    Request::Files(FilesRequest {
                        folders: folders.into_iter().map(Into::into).collect(),
                        compare,
                        tasks: if compare { vec![TaskGroup::Seeks, TaskGroup::Names] } else { Vec::new() },
                        size,
                        max_size: most,
                        file_size: FileSizes { min: Bytes::ZERO, max: most },
                        precision,
                        ..FilesRequest::default()
                    })
                }
            ),
        ]
    }

    fn request() -> impl Strategy<Value = Request> {
        prop_oneof![reads(), writes(), others()]
    }

    proptest! {
        #[test]
        fn a_request_is_read_back_from_its_command_and_its_document(request in request()) {
            prop_assert_eq!(parsed(&of_request(&request)), request.clone(), "{}", of_request(&request));
            let document = serde_json::to_string(&request).expect("a document");
            prop_assert_eq!(serde_json::from_str::<Request>(&document).expect("the same request"), request);
        }
    }
}
