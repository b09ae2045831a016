//! `drivescope export`: runs in the forms that other programs read.

use super::args::{ExportArguments, ExportFormat, TableArgument};
use super::output;
use super::output_file::{OutputFile, must_be_no_drive};
use super::stored::{analysed, store_with_runs};
use crate::error::{UserError, exit};
use crate::export::{TableForm, TableWriter};
use crate::store::{Store, StoredRun};
use model::run::Run;
use model::target::TargetKind;
use report::export::bonnie::{self, BonnieFormat};
use report::export::fio::{self, FioFile, FioRun};
use report::export::openmetrics::{MetricRun, metrics};
use report::export::table::Table;
use report::hostile::harmless;
use report::json::document;
use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such run, it cannot be read, or a file cannot be written.
pub fn run(arguments: &ExportArguments, store: Option<&Path>) -> Result<u8, UserError> {
    let goal = Goal::of(&arguments.output);
    must_be_no_drive(&arguments.output)?;
    let format = arguments.format.or_else(|| format_of(&arguments.output)).ok_or_else(unclear)?;
    let store = store_with_runs(store)?;
    let names = if arguments.all { all_runs(&store)? } else { arguments.runs.clone() };
    let table = table_of(arguments.table);
    write(&store, &names, format, &goal, table)?;
    Ok(exit::SUCCESS)
}

/// What `drivescope report RUN -o FILE` writes for an ending that is no page and no picture; none of all others.
pub fn format_of(path: &Path) -> Option<ExportFormat> {
    match path.extension()?.to_string_lossy().to_ascii_lowercase().as_str() {
        "json" => Some(ExportFormat::Json),
        "csv" => Some(ExportFormat::Csv),
        "parquet" => Some(ExportFormat::Parquet),
        "prom" => Some(ExportFormat::Openmetrics),
        _ => None,
    }
}

/// Writes runs to a file, for `drivescope report`: tables with what was found.
///
/// # Errors
/// When there is no such run, it cannot be read, or the file cannot be written.
pub fn write_file(
    names: &[String],
    store: Option<&Path>,
    format: ExportFormat,
    path: &Path,
) -> Result<(), UserError> {
    let store = store_with_runs(store)?;
    write(&store, names, format, &Goal::of(path), Table::Findings)
}

/// Where results go.
enum Goal {
    Standard,
    File(PathBuf),
    Folder(PathBuf),
}

impl Goal {
    fn of(path: &Path) -> Goal {
        let is_folder = path.is_dir() || (path.extension().is_none() && !path.exists());
        match path {
            path if path == Path::new("-") => Goal::Standard,
            path if is_folder => Goal::Folder(path.to_owned()),
            path => Goal::File(path.to_owned()),
        }
    }
}

fn unclear() -> UserError {
    UserError::usage(
        "cannot tell what to write: say it with --format json, csv, parquet, bonnie-1.03, bonnie-1.98, fio or openmetrics. \
         Example: drivescope export last --format csv -o results",
    )
}

fn all_runs(store: &Store) -> Result<Vec<String>, UserError> {
    // The oldest first, as people read tables; what cannot be read is said, and the others are written.
    let mut names = Vec::new();
    for listing in store.runs()?.into_iter().rev() {
        match listing.damage {
            Some(damage) => output::say(&format!("{} is left out: {damage}", listing.id)),
            None => names.push(listing.id),
        }
    }
    if names.is_empty() {
        return Err(UserError::failure("there are no runs to export. Make one: drivescope check ."));
    }
    Ok(names)
}

fn table_of(table: TableArgument) -> Table {
    match table {
        TableArgument::Runs => Table::Runs,
        TableArgument::Findings => Table::Findings,
        TableArgument::Phases => Table::Phases,
        TableArgument::Intervals => Table::Intervals,
    }
}

fn write(
    store: &Store,
    names: &[String],
    format: ExportFormat,
    goal: &Goal,
    table: Table,
) -> Result<(), UserError> {
    match format {
        ExportFormat::Csv => write_tables(store, names, TableForm::Csv, goal, table),
        ExportFormat::Parquet => write_tables(store, names, TableForm::Parquet, goal, table),
        ExportFormat::Json => write_json(store, names, goal),
        ExportFormat::Fio => write_fio(store, names, goal),
        ExportFormat::Bonnie103 => write_bonnie(store, names, BonnieFormat::V103, goal),
        ExportFormat::Bonnie198 => write_bonnie(store, names, BonnieFormat::V198, goal),
        ExportFormat::Openmetrics => write_metrics(store, names, goal),
    }
}

/// What a table is written to.
type Sink = Box<dyn Write + Send>;

/// A table on its way into a file or to standard output.
struct OpenTable {
    table: Table,
    path: Option<PathBuf>,
    writer: TableWriter<Destination>,
}

/// A file that is finished at the end, or standard output.
enum Destination {
    File(OutputFile),
    Standard(Sink),
}

impl Write for Destination {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Destination::File(file) => file.write(buffer),
            Destination::Standard(out) => out.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Destination::File(file) => file.flush(),
            Destination::Standard(out) => out.flush(),
        }
    }
}

fn write_tables(
    store: &Store,
    names: &[String],
    form: TableForm,
    goal: &Goal,
    table: Table,
) -> Result<(), UserError> {
    let mut tables = match goal {
        Goal::Folder(folder) => {
            make_folder(folder)?;
            let open = |table: Table| {
                open_table(table, form, Some(folder.join(format!("{}.{}", table.name(), form.ending()))))
            };
            Table::ALL.into_iter().map(open).collect::<Result<Vec<_>, _>>()?
        }
        Goal::File(path) => vec![open_table(table, form, Some(path.clone()))?],
        Goal::Standard => vec![open_table(table, form, None)?],
    };
    for name in names {
        let stored = analysed(name, store)?;
        for open in &mut tables {
            let OpenTable { table, path, writer } = open;
            let added = table.rows(&stored.run, &stored.series, &mut |row| writer.add(row));
            ended(added, path.as_deref())?;
        }
    }
    tables.into_iter().try_for_each(OpenTable::finish)?;
    if let Goal::File(path) = goal {
        let path = harmless(&path.to_string_lossy(), usize::MAX);
        output::say(&format!(
            "{path} holds the table of {}. --table chooses another, and a folder gets all: -o results",
            table.name()
        ));
    }
    Ok(())
}

fn open_table(table: Table, form: TableForm, path: Option<PathBuf>) -> Result<OpenTable, UserError> {
    let out = match &path {
        Some(path) => Destination::File(OutputFile::begin(path, TABLE)?),
        None if form == TableForm::Parquet && io::stdout().is_terminal() => {
            return Err(UserError::usage(
                "Parquet is nothing for a terminal. Name a file: -o findings.parquet",
            ));
        }
        None => Destination::Standard(Box::new(io::stdout())),
    };
    let writer = TableWriter::begin(table, form, out).map_err(|error| failed(&error, path.as_deref()))?;
    Ok(OpenTable { table, path, writer })
}

impl OpenTable {
    fn finish(self) -> Result<(), UserError> {
        match self.writer.finish() {
            Ok(Destination::File(file)) => file.finish(),
            Ok(Destination::Standard(mut out)) => ended(out.flush(), None),
            Err(error) => ended(Err(error), self.path.as_deref()),
        }
    }
}

const TABLE: &str = "the table";

/// A reader of standard output that has gone away, such as `head`, is no error.
fn ended(result: io::Result<()>, path: Option<&Path>) -> Result<(), UserError> {
    match result {
        Err(error) if path.is_none() && error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|error| failed(&error, path)),
    }
}

fn failed(error: &io::Error, path: Option<&Path>) -> UserError {
    match path {
        Some(path) => OutputFile::cannot(path, TABLE, error),
        None => UserError::failure(format!("cannot write to standard output: {error}")),
    }
}

fn make_folder(folder: &Path) -> Result<(), UserError> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let folder = harmless(&folder.to_string_lossy(), usize::MAX);
        UserError::failure(format!("cannot make the folder {folder}: {error}"))
    })
}

/// One text to wherever it was asked for; in a folder it has this name.
fn give(text: &str, goal: &Goal, name: &str) -> Result<(), UserError> {
    let path = match goal {
        Goal::Standard => return output::print(text),
        Goal::File(path) => path.clone(),
        Goal::Folder(folder) => {
            make_folder(folder)?;
            folder.join(name)
        }
    };
    let mut file = OutputFile::begin(&path, "the export")?;
    file.write_all(text.as_bytes()).map_err(|error| OutputFile::cannot(&path, "the export", &error))?;
    file.finish()
}

fn write_json(store: &Store, names: &[String], goal: &Goal) -> Result<(), UserError> {
    if let Goal::Folder(_) = goal {
        for name in names {
            let run = analysed(name, store)?.run;
            give(&document(&run).to_json_pretty(), goal, &format!("{}.json", run.id))?;
        }
        return Ok(());
    }
    let documents: Vec<String> = names
        .iter()
        .map(|name| Ok(document(&analysed(name, store)?.run).to_json_pretty()))
        .collect::<Result<_, UserError>>()?;
    match documents.as_slice() {
        [one] => give(one, goal, ""),
        several => {
            let runs = several.join(",\n");
            give(&format!("{{\"schema\": \"drivescope.runs/1\",\n\"runs\": [\n{runs}]}}\n"), goal, "")
        }
    }
}

fn write_bonnie(store: &Store, names: &[String], format: BonnieFormat, goal: &Goal) -> Result<(), UserError> {
    let line = |name: &String| {
        let run = analysed(name, store)?.run;
        if !bonnie::measured_alike(&run) {
            output::say(&format!(
                "run {} has nothing that bonnie++ measures: its line holds its name only. `check` and `access` measure that",
                run.id
            ));
        }
        Ok(bonnie::line(&run, format))
    };
    let lines = names.iter().map(line).collect::<Result<Vec<String>, UserError>>()?;
    give(&lines.concat(), goal, "bonnie.csv")
}

fn write_metrics(store: &Store, names: &[String], goal: &Goal) -> Result<(), UserError> {
    let mut runs =
        names.iter().map(|name| Ok(analysed(name, store)?.run)).collect::<Result<Vec<Run>, UserError>>()?;
    runs.sort_by_key(started_s);
    let measured: Vec<MetricRun<'_>> = runs
        .iter()
        .map(|run| MetricRun { run, started_s: started_s(run).map(|seconds| seconds as f64) })
        .collect();
    give(&metrics(&measured), goal, "drivescope.prom")
}

/// When a run began, in seconds since 1970; none for a virtual drive, which has a time of its own.
fn started_s(run: &Run) -> Option<u64> {
    let stamp = run.started.parse::<jiff::Timestamp>().ok().filter(|_| run.target.kind != TargetKind::Sim);
    stamp.and_then(|stamp| u64::try_from(stamp.as_second()).ok())
}

fn write_fio(store: &Store, names: &[String], goal: &Goal) -> Result<(), UserError> {
    let folder = match goal {
        Goal::Folder(folder) => folder,
        _ => {
            let [name] = names else {
                return Err(UserError::usage(
                    "a document of fio holds one run. Name a folder for several: -o fio",
                ));
            };
            let stored = analysed(name, store)?;
            let text = fio::document(&fio_run(&stored)).ok_or_else(|| nothing_for_fio(&stored.run))?;
            return give(&text, goal, "");
        }
    };
    for name in names {
        let stored = analysed(name, store)?;
        let files = fio::files(&fio_run(&stored));
        if files.is_empty() {
            return Err(nothing_for_fio(&stored.run));
        }
        for file in &files {
            let folder = folder.join(&stored.run.id).join(&file.folder);
            give(&file.content, &Goal::Folder(folder), &file.name)?;
        }
        output::say(&fio_plot_command(&files, &folder.join(&stored.run.id)));
    }
    Ok(())
}

/// What to type for a picture: of the folder and kind of access that has the most files.
fn fio_plot_command(files: &[FioFile], folder: &Path) -> String {
    let alike = |file: &FioFile| -> Vec<&FioFile> {
        files.iter().filter(|other| (&other.folder, other.rw) == (&file.folder, file.rw)).collect()
    };
    let most = files.iter().map(alike).max_by_key(Vec::len).unwrap_or_default();
    let numbers = |pick: fn(&FioFile) -> u32| -> String {
        let distinct: BTreeSet<u32> = most.iter().map(|file| pick(file)).collect();
        distinct.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
    };
    let Some(first) = most.first() else { return String::new() };
    format!(
        "a picture of it: fio-plot -i {} -T \"{}\" -l -r {} -d {} -n {}",
        folder.join(&first.folder).display(),
        first.folder,
        first.rw,
        numbers(|file| file.queue_depth),
        numbers(|file| file.threads)
    )
}

fn fio_run(stored: &StoredRun) -> FioRun<'_> {
    FioRun { run: &stored.run, series: &stored.series, started_s: started_s(&stored.run).unwrap_or(0) }
}

fn nothing_for_fio(run: &Run) -> UserError {
    UserError::failure(format!(
        "run {} has nothing that fio could have measured: no phase with one block size, sequential or random",
        run.id
    ))
}
