//! `drivescope files`.

use super::args::FilesArguments;
use super::{measure, open_store, output, resolve};
use crate::control::Controls;
use crate::error::UserError;
use crate::experiment::files::{Files, FilesWish, MeasuredFolder};
use crate::interrupt;
use crate::screen::{Screen, plan};
use crate::session::files::{FilesFolder, FilesSession, not_removed};
use crate::stamp::{self, Occasion};
use io::clock::MonotonicClock;
use io::files::{FolderFacts, Workspace, folder_facts, leftovers};
use io::load::overhead;
use io::rig::EngineFacts;
use io::target::Target;
use model::target::{Caveat, TargetFacts, TargetKind};
use model::units::Bytes;
use report::hostile::harmless;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a file must hold to be looked at as a target.
const PROBE: Bytes = Bytes::from_kib(64);
/// Drives have caches of up to this size; what is smaller may never leave one.
const DRIVE_CACHE_BYTES_MAX: Bytes = Bytes::from_mib(512);

/// Runs the command; the exit status.
///
/// # Errors
/// When it cannot be run as asked for.
pub fn run(arguments: &FilesArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let shown = &arguments.output;
    output::check(shown, &[])?;
    let (wish, command) = resolve::files(arguments)?;
    if !arguments.work.dry_run {
        // Before anybody asks for the room: they take it.
        arguments.folders.iter().try_for_each(|path| clear_leftovers(path))?;
    }
    let named: Vec<(&PathBuf, FolderFacts)> = arguments
        .folders
        .iter()
        .map(|path| Ok((path, folder_facts(path)?)))
        .collect::<Result<_, UserError>>()?;
    let measured = measured_folders(&named, &wish);
    let mut files = Files::new(wish.clone(), measured).map_err(UserError::failure)?;
    if arguments.work.dry_run {
        let page = plan(&facts_before(&named), &files.outlook(&[]), output::page_style(shown.plain));
        output::print(&page)?;
        return Ok(measure::status(None));
    }
    // From here on a signal ends the run in order, so that nothing is left behind.
    let interrupt = interrupt::flag()?;
    let workspaces: Vec<Workspace> =
        named.iter().map(|(path, _)| Workspace::make(path)).collect::<Result<_, _>>()?;
    let (facts, disks) = target_facts(&named, &workspaces, &wish)?;
    let clock = MonotonicClock::start();
    let engine = EngineFacts { name: "files", features: Vec::new() };
    let run = stamp::begin(Occasion {
        experiment: analysis::file_work::EXPERIMENT,
        command,
        seed: wish.seed,
        facts,
        profile: None,
        engine: &engine,
        direct: false,
        overhead: Some(overhead::measure(clock)?),
        warnings: warnings(&named),
        state_before: Vec::new(),
    });
    let writer = open_store(store)?.begin(&run)?;
    let controls = Arc::new(Controls::default());
    let look_again = measure::findings_so_far(writer.folder());
    let mut screen = Screen::new(shown.quiet, shown.plain, Arc::clone(&controls), look_again);
    let folders = named.iter().zip(workspaces).map(|((path, facts), workspace)| FilesFolder {
        name: path.display().to_string(),
        file_system: facts.file_system.clone(),
        workspace,
    });
    let folders = folders.collect();
    let events = &mut screen;
    let session = FilesSession { folders, disks, clock, writer, run, events, interrupt, controls: &controls };
    let run = session.run(&mut files, &wish);
    // The terminal is given back before anything is said.
    drop(screen);
    let run = run?;
    output::give(&run, shown)?;
    Ok(measure::status(Some(&run)))
}

/// The folders with what a file may take there: a tenth of a file system stays free, and folders on one share what is left, with the
/// small files.
fn measured_folders(named: &[(&PathBuf, FolderFacts)], wish: &FilesWish) -> Vec<MeasuredFolder> {
    let small = wish.files.saturating_mul(wish.file_sizes.1.0.next_multiple_of(4096));
    let measured = named.iter().map(|(path, facts)| {
        let sharing = named.iter().filter(|(_, other)| other.device == facts.device).count() as u64;
        let usable = facts.available.0.saturating_sub(facts.size.0.div_ceil(10)) / sharing;
        // The file byte by byte is a quarter as long and lies beside it; what file systems keep for themselves is a few hundredths.
        let usable = usable.saturating_sub(small) / 100 * 76;
        MeasuredFolder {
            name: path.display().to_string(),
            size_max: Bytes(usable).round_down_to(Bytes::from_mib(1)),
        }
    });
    measured.collect()
}

/// Removes what killed runs left, and says so.
fn clear_leftovers(path: &Path) -> Result<(), UserError> {
    let shown = harmless(&path.display().to_string(), usize::MAX);
    for leftover in leftovers(path)? {
        output::say(&format!("{shown} holds {}, which a killed run left; it is removed", leftover.name));
        let removal = leftover.remove(&mut |files| output::say(&format!("{files} files of it are gone")));
        if let Some(warning) = not_removed(&shown, &removal) {
            output::say(&warning);
        }
    }
    Ok(())
}

/// What is known before anything was made.
fn facts_before(named: &[(&PathBuf, FolderFacts)]) -> TargetFacts {
    let names: Vec<String> = named.iter().map(|(path, _)| path.display().to_string()).collect();
    let capacity = named.iter().map(|(_, facts)| facts.size).fold(Bytes::ZERO, |sum, size| sum + size);
    let layer =
        |(path, facts): &(&PathBuf, FolderFacts)| format!("{} is {}", path.display(), facts.file_system);
    TargetFacts {
        stack: named.iter().map(layer).collect(),
        ..TargetFacts::unidentified(TargetKind::Folder, names.join(", "), capacity)
    }
}

/// What is known of what lies below the folders: of the first, with the layers and doubts of all; and the disks.
fn target_facts(
    named: &[(&PathBuf, FolderFacts)],
    workspaces: &[Workspace],
    wish: &FilesWish,
) -> Result<(TargetFacts, Vec<PathBuf>), UserError> {
    let mut all: Vec<Target> = Vec::new();
    for ((path, _), workspace) in named.iter().zip(workspaces) {
        let probe = workspace.probe_path(PROBE).map_err(|error| {
            UserError::failure(format!("cannot write a file in {}: {error}", path.display()))
        })?;
        all.push(Target::open(&probe)?);
    }
    let mut facts = all[0].facts().clone();
    let names: Vec<String> = named.iter().map(|(path, _)| path.display().to_string()).collect();
    facts.kind = TargetKind::Folder;
    facts.path = names.join(", ");
    facts.capacity = named.iter().map(|(_, facts)| facts.size).fold(Bytes::ZERO, |sum, size| sum + size);
    let mut disks: Vec<PathBuf> = Vec::new();
    for target in &all {
        let layers = target.facts().stack.iter().filter(|layer| !facts.stack.contains(layer));
        let layers: Vec<String> = layers.cloned().collect();
        facts.stack.extend(layers);
        facts.caveats.extend(target.facts().caveats.iter().copied());
        disks.extend(target.disks().iter().filter(|disk| !disks.contains(disk)).cloned().collect::<Vec<_>>());
    }
    if wish.size.unwrap_or(wish.size_max) <= DRIVE_CACHE_BYTES_MAX {
        facts.caveats.push(Caveat::FitsInDriveCache);
    }
    // Everything goes through the page cache on purpose, and the file is put out of it and looked for before it is read.
    facts.caveats.retain(|caveat| !matches!(caveat, Caveat::NotDirect | Caveat::InPageCache));
    facts.caveats.sort_unstable();
    facts.caveats.dedup();
    Ok((facts, disks))
}

/// What the kinds of file systems mean for the figures.
fn warnings(named: &[(&PathBuf, FolderFacts)]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (path, facts) in named {
        let meaning = match facts.file_system.as_str() {
            "overlay" => {
                "an overlay: writes go to its upper layer, a file of a lower layer is copied when it is first written to, and whether a \
                 file is out of memory is not told through it"
            }
            kind if kind.starts_with("nfs") || kind == "cifs" || kind == "smb3" => {
                "on a network: rates are those of network and server, whose memory cannot be emptied from here, and each file made or \
                 removed waits for an answer"
            }
            "tmpfs" | "ramfs" => {
                "in memory: its figures are those of memory and of the kernel, there is no drive"
            }
            kind if kind.starts_with("fuse") => {
                "served by another program (FUSE): its cost is in every figure, and what it keeps in its memory cannot be emptied from here"
            }
            _ => continue,
        };
        warnings.push(format!("{} is {meaning}", path.display()));
    }
    warnings
}
