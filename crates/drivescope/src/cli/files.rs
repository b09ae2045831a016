//! `drivescope files`.

use super::stored::open_store;
use super::{begun_run, command_line, dry_run, output, stored_request};
use crate::control::Controls;
use crate::error::{Cannot, UserError};
use crate::interrupt;
use crate::screen::Screen;
use crate::session::files::{FilesFolder, FilesSession, not_removed};
use crate::stamp::{self, Occasion};
use experiment::files::{Files, FilesRequest, MeasuredFolder};
use experiment::request::Request;
use io::clock::MonotonicClock;
use io::engine::choice::EngineFacts;
use io::files::{FolderFacts, Workspace, folder_facts, leftovers, memory_bytes};
use io::load::overhead;
use io::targets::Target;
use model::experiment_name::{EngineName, ExperimentName};
use model::run::{Asked, Consent};
use model::target::{Caveat, TargetFacts, TargetKind};
use model::units::Bytes;
use report::hostile::harmless;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const PROBE: Bytes = Bytes::from_kib(64);
/// Drives have caches of up to this size; what is smaller may never leave one.
const DRIVE_CACHE_BYTES_MAX: Bytes = Bytes::from_mib(512);

pub fn run(request: &FilesRequest, store: Option<&Path>) -> Result<u8, UserError> {
    let shown = &request.output;
    output::check(shown, &[])?;
    request.check()?;
    let mut request = request.clone();
    let seed = *request.seed.get_or_insert_with(begun_run::random_seed);
    let size = request.file_length(memory_bytes())?;
    if !request.dry_run {
        // Before anybody asks for the room: they take it.
        for path in &request.folders {
            clear_leftovers(path)?;
        }
    }
    let mut named: Vec<(&PathBuf, FolderFacts)> = Vec::new();
    for path in &request.folders {
        named.push((path, folder_facts(path)?));
    }
    let measured = measured_folders(&named, &request);
    let mut files = Files::new(request.clone(), size, measured)?;
    if request.dry_run {
        dry_run::give(ExperimentName::Files, &facts_before(&named), &files.remaining(&[]), shown)?;
        return Ok(begun_run::status(None));
    }
    // From here on a signal ends the run in order, so that nothing is left behind.
    let interrupt = interrupt::flag()?;
    let mut workspaces = Vec::new();
    for (path, _) in &named {
        workspaces.push(Workspace::make(path)?);
    }
    let (facts, disks) = target_facts(&named, &workspaces, size.unwrap_or(request.max_size))?;
    let clock = MonotonicClock::start();
    let engine = EngineFacts { name: EngineName::Files, features: Vec::new() };
    let run = stamp::begin(Occasion {
        asked: Asked { experiment: ExperimentName::Files, consent: Consent::Read },
        command: command_line::of_request(&Request::Files(request.clone())),
        seed,
        facts,
        profile: None,
        engine: &engine,
        direct: false,
        overhead: Some(overhead::measure(clock)?),
        warnings: warnings(&named),
        state_before: Vec::new(),
    });
    let writer = open_store(store)?.begin(&run)?;
    stored_request::keep(writer.folder(), &Request::Files(request.clone()))?;
    let controls = Arc::new(Controls::default());
    let look_again = begun_run::findings_so_far(writer.folder());
    let mut screen = Screen::new(shown.quiet, shown.plain, Arc::clone(&controls), look_again);
    let mut folders = Vec::new();
    for ((path, facts), workspace) in named.iter().zip(workspaces) {
        let (name, file_system) = (path.display().to_string(), facts.file_system.clone());
        folders.push(FilesFolder { name, file_system, workspace });
    }
    let events = &mut screen;
    let session = FilesSession { folders, disks, clock, writer, run, events, interrupt, controls: &controls };
    let run = session.run(&mut files, &request);
    drop(screen);
    let run = run?;
    output::give(&run, shown)?;
    Ok(output::judged(&run, shown, begun_run::status(Some(&run))))
}

/// The folders with what a file may take there: a tenth of a file system stays free, and folders on one share the rest, with the small files.
fn measured_folders(named: &[(&PathBuf, FolderFacts)], request: &FilesRequest) -> Vec<MeasuredFolder> {
    let small = request.files.saturating_mul(request.file_size.max.get().next_multiple_of(4096));
    let mut measured = Vec::new();
    for (path, facts) in named {
        let sharing = named.iter().filter(|(_, other)| other.device == facts.device).count() as u64;
        let usable = facts.available.get().saturating_sub(facts.size.get().div_ceil(10)) / sharing;
        // The file byte by byte is a quarter as long and lies beside it; what file systems keep for themselves is a few hundredths.
        let usable = Bytes::new(usable.saturating_sub(small) / 100 * 76);
        let size_max = usable.round_down_to(Bytes::from_mib(1));
        measured.push(MeasuredFolder { name: path.display().to_string(), size_max });
    }
    measured
}

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

fn facts_before(named: &[(&PathBuf, FolderFacts)]) -> TargetFacts {
    let (path, capacity) = names_and_size(named);
    let mut facts = TargetFacts::unidentified(TargetKind::Folder, path, capacity);
    for (path, folder) in named {
        facts.stack.push(format!("{} is {}", path.display(), folder.file_system));
    }
    facts
}

fn names_and_size(named: &[(&PathBuf, FolderFacts)]) -> (String, Bytes) {
    let (mut names, mut size) = (Vec::new(), Bytes::ZERO);
    for (path, facts) in named {
        names.push(path.display().to_string());
        size += facts.size;
    }
    (names.join(", "), size)
}

/// What is known of what lies below the folders: of the first, with the layers and doubts of all; and the disks.
fn target_facts(
    named: &[(&PathBuf, FolderFacts)],
    workspaces: &[Workspace],
    file_length: Bytes,
) -> Result<(TargetFacts, Vec<PathBuf>), UserError> {
    let mut all: Vec<Target> = Vec::new();
    for ((path, _), workspace) in named.iter().zip(workspaces) {
        let probe = workspace.probe_path(PROBE).or_cannot(&format!("write a file in {}", path.display()))?;
        all.push(Target::open(&probe)?);
    }
    let mut facts = all[0].facts().clone();
    facts.kind = TargetKind::Folder;
    (facts.path, facts.capacity) = names_and_size(named);
    let mut disks: Vec<PathBuf> = Vec::new();
    for target in &all {
        for layer in &target.facts().stack {
            if !facts.stack.contains(layer) {
                facts.stack.push(layer.clone());
            }
        }
        facts.caveats.extend_from_slice(&target.facts().caveats);
        for disk in target.disks() {
            if !disks.contains(disk) {
                disks.push(disk.clone());
            }
        }
    }
    if file_length <= DRIVE_CACHE_BYTES_MAX {
        facts.caveats.push(Caveat::FitsInDriveCache);
    }
    // Everything goes through the page cache on purpose, and the file is put out of it and looked for before it is read.
    facts
        .caveats
        .retain(|caveat| !matches!(caveat, Caveat::NotDirect | Caveat::InPageCache | Caveat::InMemory));
    facts.caveats.sort_unstable();
    facts.caveats.dedup();
    Ok((facts, disks))
}

fn warnings(named: &[(&PathBuf, FolderFacts)]) -> Vec<String> {
    let mut warnings = Vec::new();
    for (path, facts) in named {
        let meaning = match facts.file_system.as_str() {
            "overlay" => {
                "an overlay: writes go to its upper layer, and the first write copies a file of a lower layer. Whether a file is cached is unknown"
            }
            kind if kind.starts_with("nfs") || kind == "cifs" || kind == "smb3" => {
                "on a network: results include network and server, whose cache cannot be dropped from here, and each file made or \
                 removed waits for a round trip"
            }
            "tmpfs" | "ramfs" => "in memory: results are those of memory and the kernel, not of a drive",
            kind if kind.starts_with("fuse") => {
                "served by another program (FUSE): its cost is in every figure, and what it keeps in its memory cannot be emptied from here"
            }
            _ => continue,
        };
        warnings.push(format!("{} is {meaning}", path.display()));
    }
    warnings
}
