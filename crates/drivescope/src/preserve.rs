//! `--preserve`: a journal keeps what a run overwrites, to restore it. Where journals are, and which are unfinished.
//! ```text
//! STORE/preserve/NUMBER.journal    data to restore; removed when restored
//! STORE/preserve/NUMBER.pointer    the path of a journal in another folder, and its target
//! ```

use crate::error::{Cannot, UserError};
use crate::store::default_folder;
use ::io::rig::Rig;
use ::io::targets::Target;
use ::io::targets::preserve::{
    Given, Journal, JournalError, JournalPlace, Keeper, Origin, SaveEnd, stretches,
};
use model::plan::Phase;
use model::units::Bytes;
use report::hostile::harmless;
use report::shell_words::quoted;
use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

const FOLDER: &str = "preserve";
/// Frames of the journal take at most a thousandth of the data.
const FRAMES_SHARE: u64 = 1000;
const POINTER_BYTES_MAX: u64 = 128 << 10;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreserveChoice {
    pub folder: Option<PathBuf>,
    /// Also in a folder that may be on the target.
    pub anyway: bool,
}

pub struct Preserving {
    keeper: Keeper,
    pointer: Option<PathBuf>,
    restore: String,
}

impl Preserving {
    pub fn begin(
        choice: &PreserveChoice,
        store: Option<&Path>,
        rig: &Rig,
        wanted: Bytes,
        is_marked: bool,
    ) -> Result<Preserving, UserError> {
        let Some(target) = rig.target() else {
            return Err(UserError::usage("a virtual drive has no data to preserve. Omit --preserve"));
        };
        let own = own_folder(store)?;
        make(&own)?;
        let folder = match &choice.folder {
            Some(folder) => {
                folder.canonicalize().or_cannot(&format!("keep a journal in {}", folder.display()))?
            }
            None => own.clone(),
        };
        let place = JournalPlace::of(&folder)?;
        if let Some(why) = place.objection(target)
            && !choice.anyway
        {
            return Err(UserError::failure(format!(
                "will not keep the data of {} in {}: {why}. Name a folder on another drive with --journal DIR, or add \
                 --journal-anyway",
                target.path().display(),
                folder.display()
            )));
        }
        let needed = wanted.get().saturating_add(wanted.get() / FRAMES_SHARE);
        if needed > place.room {
            return Err(UserError::failure(format!(
                "the journal takes up to {}, and {} has {} free besides the reserve of a tenth. Name another folder with \
                 --journal DIR, or give a smaller --range",
                Bytes::new(needed),
                folder.display(),
                Bytes::new(place.room)
            )));
        }
        let number = std::hash::RandomState::new().build_hasher().finish();
        let name = format!("{number:016x}.journal");
        let pointer = if folder == own { None } else { Some(own.join(format!("{number:016x}.pointer"))) };
        let origin = Origin::of(target, is_marked, &mut rig.medium()?);
        let restore = restore_command(&origin);
        let journal = Journal::create(&folder, &name, number, &origin)?;
        // After the journal: a pointer without a journal means that it is lost or its folder is not mounted.
        if let Some(pointer) = &pointer {
            write_pointer(pointer, journal.path(), &origin)?;
        }
        Ok(Preserving { keeper: Keeper::new(journal, place.room), pointer, restore })
    }

    pub fn announcement(&self, wanted: Bytes) -> String {
        format!(
            "data to be overwritten are saved in {} first, in steps of about {wanted}, and restored afterwards. After a crash or \
             power failure: {}",
            self.keeper.journal().path().display(),
            self.restore
        )
    }

    /// Saves everything that a phase may overwrite.
    /// Fails when the journal or the permit fails. Then the phase must not run.
    pub fn save(
        &mut self,
        rig: &Rig,
        phase: &Phase,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<SaveEnd, UserError> {
        let stretches = stretches(phase);
        if stretches.is_empty() {
            return Ok(SaveEnd::Safe);
        }
        Ok(self.keeper.save(&mut rig.medium()?, &stretches, go_on)?)
    }

    /// Restores everything that was saved.
    /// Fails when not all of it could be restored. The rest stays in the journal.
    pub fn give_back(&mut self, rig: &Rig) -> Result<(), UserError> {
        if self.keeper.journal().parsed().saved.is_empty() {
            return Ok(());
        }
        let mut medium = match rig.medium() {
            Ok(medium) => medium,
            Err(error) => return Err(self.not_restored(&error.to_string())),
        };
        match self.keeper.give_back(&mut medium) {
            Ok(given) if given.is_complete() => Ok(()),
            Ok(given) => Err(self.not_restored(&missing(&given))),
            Err(error) => Err(self.not_restored(&error.to_string())),
        }
    }

    fn not_restored(&self, why: &str) -> UserError {
        UserError::failure(format!(
            "NOT ALL DATA ARE RESTORED: {why}. They are kept in {}; do not delete it, and write nothing to the drive. When the drive \
             is back: {}",
            self.keeper.journal().path().display(),
            self.restore
        ))
    }

    /// Fails when it cannot be removed, which does no harm: it is empty.
    pub fn finish(self) -> Result<(), UserError> {
        remove_pointer(self.pointer.as_deref())?;
        Ok(self.keeper.into_journal().delete()?)
    }
}

fn own_folder(store: Option<&Path>) -> Result<PathBuf, UserError> {
    match store {
        Some(store) => Ok(store.join(FOLDER)),
        None => Ok(default_folder()?.join(FOLDER)),
    }
}

/// Journals contain the user's data: readable by the owner only.
fn make(folder: &Path) -> Result<(), UserError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.or_cannot(&format!("make the folder {} for journals", folder.display()))
}

/// A pointer is the path of the journal, a zero, and the journal's target.
fn write_pointer(pointer: &Path, journal: &Path, origin: &Origin) -> Result<(), UserError> {
    let content = [journal.as_os_str().as_bytes(), &[0], &origin.bytes()].concat();
    write_whole(pointer, &content).or_cannot(&format!("write {}", pointer.display()))
}

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let half = path.with_extension("half");
    fs::write(&half, content)?;
    fs::File::open(&half)?.sync_all()?;
    fs::rename(&half, path)?;
    sync_folder_of(path)
}

/// Durably, before the journal is removed.
fn remove_pointer(pointer: Option<&Path>) -> Result<(), UserError> {
    let Some(pointer) = pointer else { return Ok(()) };
    let removed = fs::remove_file(pointer).and_then(|()| sync_folder_of(pointer));
    removed.or_cannot(&format!("remove {}", pointer.display()))
}

fn sync_folder_of(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) => fs::File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

pub fn missing(given: &Given) -> String {
    let (mut bytes, mut regions) = (0, Vec::new());
    for (offset, length) in &given.missing {
        bytes += length;
        if regions.len() < 3 {
            regions.push(format!("{length} from byte {offset} on"));
        }
    }
    if given.missing.len() > regions.len() {
        regions.push(format!("and {} more regions", given.missing.len() - regions.len()));
    }
    let why = given.why.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{} could not be restored: {}{why}", Bytes::new(bytes), regions.join(", "))
}

pub fn restore_command(origin: &Origin) -> String {
    let (path, confirmation) =
        (harmless(&origin.path, usize::MAX), harmless(&origin.confirmation, usize::MAX));
    format!("drivescope restore {} --confirm {}", quoted(&path), quoted(&confirmation))
}

pub struct Unfinished {
    pub path: PathBuf,
    pub pointer: Option<PathBuf>,
    pub journal: Result<Journal, JournalError>,
}

impl Unfinished {
    /// Removes it, after everything was restored or nothing was saved.
    pub fn finish(self) -> Result<(), UserError> {
        let journal = self.journal?;
        remove_pointer(self.pointer.as_deref())?;
        Ok(journal.delete()?)
    }
}

pub fn unfinished(store: Option<&Path>) -> Result<Vec<Unfinished>, UserError> {
    let own = own_folder(store)?;
    let entries = match fs::read_dir(&own) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(UserError::failure(format!("cannot read {}: {error}", own.display()))),
    };
    let mut found = Vec::new();
    for entry in entries.flatten() {
        let path = entry.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("journal") => found.push((path, None)),
            Some("pointer") => match read_pointer(&path) {
                Some((journal, _)) => found.push((journal, Some(path))),
                // It then stands for a journal that cannot be read.
                None => found.push((path.clone(), Some(path))),
            },
            _ => {}
        }
    }
    found.sort();
    let mut unfinished = Vec::new();
    for (path, pointer) in found {
        unfinished.push(Unfinished { journal: Journal::open(&path), path, pointer });
    }
    Ok(unfinished)
}

/// The pointer of the store to a journal, wherever the journal is now.
pub fn pointer_to(store: Option<&Path>, journal: &Path) -> Result<Option<PathBuf>, UserError> {
    let Some(name) = journal.file_name() else { return Ok(None) };
    let pointer = own_folder(store)?.join(name).with_extension("pointer");
    Ok(if pointer.exists() { Some(pointer) } else { None })
}

/// The path and the target of the journal; pointers of older versions lack the target.
fn read_pointer(pointer: &Path) -> Option<(PathBuf, Option<Origin>)> {
    let status = pointer.symlink_metadata().ok()?;
    if !status.is_file() || status.len() > POINTER_BYTES_MAX {
        return None;
    }
    let bytes = fs::read(pointer).ok()?;
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let path = PathBuf::from(OsString::from_vec(parts.next()?.to_vec()));
    Some((path, parts.next().and_then(Origin::parse)))
}

/// The warning that data of the target are still in a journal.
/// Fails when the target would be written to: restoring the journal would overwrite that.
pub fn look_for_unfinished(
    store: Option<&Path>,
    target: Option<&Target>,
    writes: bool,
) -> Result<Option<String>, UserError> {
    let Some(target) = target else { return Ok(None) };
    let names = Origin::names_of(target);
    for left in unfinished(store)? {
        let Some(text) = objection(&left, &names) else { continue };
        if writes {
            return Err(UserError::failure(format!("will not write: {text}")));
        }
        return Ok(Some(text));
    }
    Ok(None)
}

fn objection(left: &Unfinished, names: &Origin) -> Option<String> {
    let journal = match &left.journal {
        Ok(journal) => journal,
        Err(JournalError::UnderWay { .. }) => return None,
        Err(error) => return objection_of_unread(left, error, names),
    };
    let parsed = journal.parsed();
    if parsed.saved.is_empty() && !parsed.is_damaged || !parsed.origin.is_related(names) {
        return None;
    }
    let bytes = Bytes::new(parsed.saved.iter().map(|saved| saved.length).sum());
    let mut text = format!(
        "an interrupted run saved {bytes} of {}, which are still to be restored: {}",
        harmless(&parsed.origin.path, 200),
        restore_command(&parsed.origin)
    );
    if parsed.is_damaged {
        text += &format!(
            ". A part of its journal is damaged; when the rest is restored and that part is not needed, remove {}",
            shown(&left.path)
        );
    }
    Some(text)
}

/// A journal that cannot be read may have data of any target.
fn objection_of_unread(left: &Unfinished, error: &JournalError, names: &Origin) -> Option<String> {
    // The run may have ended in the meantime.
    let known = left.pointer.as_ref().unwrap_or(&left.path);
    let is_gone = matches!(known.symlink_metadata(), Err(error) if error.kind() == ErrorKind::NotFound);
    if is_gone {
        return None;
    }
    if let Some(pointer) = &left.pointer {
        let origin = read_pointer(pointer).and_then(|(_, origin)| origin);
        let whose = match &origin {
            Some(origin) if !origin.is_related(names) => return None,
            Some(origin) => format!("It has data still to be restored to {}", harmless(&origin.path, 200)),
            None => "It may have data still to be restored to this drive".into(),
        };
        return Some(format!(
            "{}. {whose}. Mount the drive with the journal, and list the journals with drivescope restore; if the journal is lost \
             or not needed, remove {}",
            harmless(&error.to_string(), usize::MAX),
            shown(pointer)
        ));
    }
    Some(format!(
        "{}. It may have data still to be restored to this drive. Make it readable and list it with drivescope restore; if it is of \
         another drive, or not needed, move {} elsewhere",
        harmless(&error.to_string(), usize::MAX),
        shown(&left.path)
    ))
}

fn shown(path: &Path) -> String {
    harmless(&path.display().to_string(), usize::MAX)
}
