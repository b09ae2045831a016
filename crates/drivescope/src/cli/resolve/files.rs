//! What the options of `files` mean.

use super::super::args::{FileWorkArguments, FilesArguments, TaskArgument};
use super::{of_option, option, precision, quoted, random_seed, time_limit};
use crate::error::UserError;
use crate::experiment::files::{FILE_MIN, FilesWish, PRECISION, ROUNDS_MIN, ROUNDS_MIN_COMPARED, TaskGroup};
use io::files::memory_bytes;
use model::quantity_text::parse_size;
use model::units::{Bytes, Nanos};
use model::workload::BLOCK_BYTES_MAX;

/// For the first folder, and for each further one.
const TIME_OF_ONE: Nanos = Nanos::from_secs(180);
const TIME_OF_MORE: Nanos = Nanos::from_secs(60);
/// What bonnie++ reads for a seek.
const SEEK_BLOCK: Bytes = Bytes::from_kib(8);
/// Larger files are not small, and each is held in memory as a whole.
const SMALL_MAX: Bytes = Bytes::from_mib(16);

/// Reads the options of `files`: what is wanted, and the command that asks for it again.
///
/// # Errors
/// Names the option that makes no sense, and what would.
pub fn files(arguments: &FilesArguments) -> Result<(FilesWish, String), UserError> {
    let FilesArguments { folders, compare, work, output: _ } = arguments;
    if *compare && folders.len() < 2 {
        return Err(UserError::usage(
            "--compare: one folder cannot be set against others; name two or more: files --compare /outer /inner",
        ));
    }
    if let Some(twice) = (1..folders.len()).find(|&number| folders[..number].contains(&folders[number])) {
        return Err(UserError::usage(format!(
            "{} is named twice; name each folder once",
            folders[twice].display()
        )));
    }
    let more = (folders.len() as u64).saturating_sub(1);
    let usual = Nanos(TIME_OF_ONE.0 + TIME_OF_MORE.0 * more);
    let seed = work.seed.unwrap_or_else(random_seed);
    let size_max = parse_size(&work.max_size).map_err(|error| of_option("--max-size")(error.into()))?;
    let size = size(work)?;
    let wish = FilesWish {
        groups: groups(&work.tasks),
        size,
        size_max: size_max.max(size.unwrap_or_default()),
        block: block(&work.block)?,
        seek_block: SEEK_BLOCK,
        seekers: work.seekers,
        files: work.files,
        file_sizes: file_sizes(&work.file_size).map_err(of_option("--file-size"))?,
        folders: work.folders_of_files,
        rounds: work.rounds,
        rounds_min: if *compare { ROUNDS_MIN_COMPARED } else { ROUNDS_MIN },
        time_limit: option("--time-limit", work.time_limit.as_deref(), time_limit)?.unwrap_or(usual),
        precision: option("--precision", work.precision.as_deref(), precision)?.unwrap_or(PRECISION),
        seed,
    };
    if size_max < FILE_MIN {
        return Err(UserError::usage(format!(
            "--max-size: a file of {size_max} is too short; give {FILE_MIN} or more"
        )));
    }
    Ok((wish, command(arguments, seed)))
}

fn groups(typed: &[TaskArgument]) -> Vec<TaskGroup> {
    let group = |task: &TaskArgument| match task {
        TaskArgument::Bytes => TaskGroup::Bytes,
        TaskArgument::Blocks => TaskGroup::Blocks,
        TaskArgument::Seeks => TaskGroup::Seeks,
        TaskArgument::Names => TaskGroup::Names,
    };
    if typed.is_empty() { TaskGroup::ALL.to_vec() } else { typed.iter().map(group).collect() }
}

fn size(work: &FileWorkArguments) -> Result<Option<Bytes>, UserError> {
    if work.beyond_memory {
        let memory = memory_bytes().ok_or_else(|| {
            UserError::failure(
                "--beyond-memory: the system does not tell how much memory it has; give --size",
            )
        })?;
        return Ok(Some(Bytes(memory.0 * 2).round_down_to(Bytes::from_mib(1))));
    }
    option("--size", work.size.as_deref(), |text| match parse_size(text)?.round_down_to(Bytes::from_mib(1)) {
        size if size < FILE_MIN => Err(UserError::usage(format!(
            "a file of {text} is too short to measure anything; give {FILE_MIN} or more"
        ))),
        size => Ok(size),
    })
}

fn block(text: &str) -> Result<Bytes, UserError> {
    let size = parse_size(text).map_err(|error| of_option("--block")(error.into()))?;
    if size.0 == 0 || size > BLOCK_BYTES_MAX {
        return Err(UserError::usage(format!(
            "--block: give a size from 1 byte to {BLOCK_BYTES_MAX}, such as 1MiB"
        )));
    }
    Ok(size)
}

/// Reads `4KiB` or `1KiB..16KiB`.
fn file_sizes(text: &str) -> Result<(Bytes, Bytes), UserError> {
    let (min, max) = match text.split_once("..") {
        Some((min, max)) => (parse_size(min)?, parse_size(max)?),
        None => (parse_size(text)?, parse_size(text)?),
    };
    if min > max || max > SMALL_MAX {
        return Err(UserError::usage(format!(
            "`{text}` are no sizes of small files; give one, or the smallest and the largest, up to {SMALL_MAX}"
        )));
    }
    Ok((min, max))
}

/// The command that asks for the same again, with the seed.
fn command(arguments: &FilesArguments, seed: u64) -> String {
    let FileWorkArguments { tasks, size, beyond_memory, max_size, block, seekers, files, file_size, .. } =
        &arguments.work;
    let mut words = vec!["drivescope".to_string(), "files".into()];
    words.extend(arguments.compare.then(|| "--compare".to_string()));
    words.extend(arguments.folders.iter().map(|folder| quoted(&folder.display().to_string())));
    let names: Vec<&str> = tasks
        .iter()
        .map(|task| match task {
            TaskArgument::Bytes => "bytes",
            TaskArgument::Blocks => "blocks",
            TaskArgument::Seeks => "seeks",
            TaskArgument::Names => "names",
        })
        .collect();
    words.extend(beyond_memory.then(|| "--beyond-memory".to_string()));
    let work = &arguments.work;
    let rounds = work.rounds.map(|rounds| rounds.to_string());
    let unless = |value: String, usual: &str| Some(value).filter(|value| value != usual);
    let options: [(&str, Option<String>); 11] = [
        ("--tasks", Some(names.join(",")).filter(|names| !names.is_empty())),
        ("--size", size.clone()),
        ("--max-size", unless(max_size.clone(), "1GiB")),
        ("--block", unless(block.clone(), "1MiB")),
        ("--seekers", unless(seekers.to_string(), "3")),
        ("--files", unless(files.to_string(), "16384")),
        ("--file-size", unless(file_size.clone(), "4KiB")),
        ("--folders-of-files", unless(work.folders_of_files.to_string(), "1")),
        ("--rounds", rounds),
        ("--precision", work.precision.clone()),
        ("--time-limit", work.time_limit.clone()),
    ];
    for (name, value) in options {
        words.extend(value.into_iter().flat_map(|value| [name.to_string(), quoted(&value)]));
    }
    words.extend(["--seed".to_string(), seed.to_string()]);
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::super::args::{Arguments, Command};
    use super::*;
    use clap::Parser;

    fn resolve(words: &str) -> Result<(FilesWish, String), UserError> {
        let arguments = Arguments::try_parse_from(words.split(' ')).expect("words that parse");
        match arguments.command {
            Some(Command::Files(arguments)) => files(&arguments),
            _ => panic!("files"),
        }
    }

    #[test]
    fn the_command_repeats_the_run() {
        let typed = "drivescope files --compare /outer /inner --tasks blocks,seeks --size 64MiB --seekers 5 \
                     --file-size 1KiB..2KiB --rounds 6 --seed 7 -q";
        let (wish, command) = resolve(typed).unwrap();
        assert_eq!(command, typed.strip_suffix(" -q").unwrap());
        assert_eq!(resolve(&command).unwrap(), (wish.clone(), command));
        assert_eq!(wish.groups, [TaskGroup::Blocks, TaskGroup::Seeks]);
        assert_eq!((wish.size, wish.rounds_min), (Some(Bytes::from_mib(64)), ROUNDS_MIN_COMPARED));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (words, expected) in [
            ("drivescope files --compare /a", "one folder cannot be set against others"),
            ("drivescope files /a /b /a", "/a is named twice"),
            ("drivescope files --size 1MiB", "--size: a file of 1MiB is too short"),
            ("drivescope files --max-size 1MiB", "--max-size: a file of 1 MiB is too short"),
            ("drivescope files --block 0", "--block: give a size"),
            ("drivescope files --file-size 4KiB..1KiB", "--file-size: `4KiB..1KiB` are no sizes"),
            ("drivescope files --file-size 1GiB", "up to 16 MiB"),
        ] {
            let error = resolve(words).unwrap_err();
            assert!(error.text.contains(expected) && error.status == 2, "{words}: {error}");
        }
    }
}
