//! bonnie++: its CSV of 1.03, 1.9x and 2.00, or its table where the CSV is not there. A text may hold several results.
//!
//! Its rates are of 1024 bytes a second. It asks for 8000 seeks in all, from three processes in 1.x and five in 2.x, and writes a tenth
//! of what it found back. What was over too soon to be timed it prints as plus signs.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Order, Set, Transfer, Work};
use crate::text::{Field, Line, lines, number, rounded};
use model::request::Operation;

/// How many fields a line of CSV has at least: of version 1.03, and since 1.93 with the version in front.
const FIELDS_OLD: usize = 27;
const FIELDS_NEW: usize = 46;
/// What bonnie++ asks for where it does not tell: seeks, processes that seek, and the share that is written back.
const SEEKS: u64 = 8000;
const SEEKERS: u32 = 3;
const WRITTEN_BACK: f64 = 0.1;
/// More results of one machine nobody has.
const RESULTS_MAX: usize = 2000;
/// A block, where the text does not tell.
const BLOCK: u64 = 8192;

/// The fields of one result in the order in which all versions have them: rates and processor shares in turns.
struct Result<'text> {
    version: Option<&'text str>,
    host: &'text str,
    size: Field<'text>,
    block: u64,
    seeks: u64,
    seekers: u32,
    /// Per character, block, rewrite; per character, block; seeks: each with its share.
    transfers: [(Field<'text>, Field<'text>); 6],
    files: Option<Field<'text>>,
    /// Create, look at, delete; in order, then at random.
    of_files: Vec<(Field<'text>, Field<'text>)>,
}

pub(crate) fn fits(text: &str) -> bool {
    text.contains("Sequential Output------") || lines(text).any(is_csv)
}

fn is_csv(line: Line<'_>) -> bool {
    let commas = line.text.matches(',').count();
    if !(FIELDS_OLD - 1..64).contains(&commas) {
        return false;
    }
    let fields = line.by(',');
    is_new(&fields) || (fields.len() == FIELDS_OLD && is_size(fields[1].text))
}

fn is_new(fields: &[Field<'_>]) -> bool {
    let Some(version) = fields.first() else { return false };
    fields.len() >= FIELDS_NEW && (version.text.starts_with("1.9") || version.text.starts_with("2."))
}

fn is_size(text: &str) -> bool {
    let size = text.split(':').next().unwrap_or("");
    size.ends_with(['M', 'G', 'k', 'K']) && size[..size.len() - 1].parse::<u64>().is_ok()
}

pub(crate) fn read(text: &str) -> std::result::Result<Imported, ImportError> {
    let mut imported = Imported { tool: "bonnie++", direct: Some(false), ..Imported::default() };
    let text = &without_marks(text);
    let has_csv = lines(text).any(is_csv);
    let mut version = None;
    for line in lines(text) {
        if let Some(field) = line.after("Version") {
            version = field.text.split_whitespace().next();
        }
        let fields = if has_csv && is_csv(line) { line.by(',') } else { Vec::new() };
        let words = if has_csv { Vec::new() } else { line.words() };
        if is_new(&fields) {
            take(&mut imported, new_result(&fields)?)?;
        } else if fields.len() == FIELDS_OLD {
            take(&mut imported, old_result(&fields, version))?;
        } else if let Some(row) = table_row(&words, version) {
            take(&mut imported, row)?;
        }
    }
    if imported.sets.iter().any(|set| set.figures.iter().any(|figure| is_by_character(&figure.work))) {
        imported.note("bonnie++ \"per character\" figures go through a small buffer byte by byte, so the CPU may limit them.");
    }
    imported.note("bonnie++ measures through a file system and the page cache: its file should be twice the memory or more.");
    Ok(imported)
}

fn is_by_character(work: &Work) -> bool {
    matches!(work, Work::Transfer(transfer) if transfer.block.get() == 1)
}

fn pairs<'text>(fields: &[Field<'text>]) -> Vec<(Field<'text>, Field<'text>)> {
    fields.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

fn six<'text>(fields: &[Field<'text>]) -> [(Field<'text>, Field<'text>); 6] {
    std::array::from_fn(|at| (fields[2 * at], fields[2 * at + 1]))
}

fn old_result<'text>(fields: &[Field<'text>], version: Option<&'text str>) -> Result<'text> {
    Result {
        version,
        host: fields[0].text,
        size: fields[1],
        block: BLOCK,
        seeks: SEEKS,
        seekers: SEEKERS,
        transfers: six(&fields[2..14]),
        files: Some(fields[14]),
        of_files: pairs(&fields[15..27]),
    }
}

/// Since format 1.98 the number of seeks and of the processes that make them stands before the figures.
fn new_result<'text>(fields: &[Field<'text>]) -> std::result::Result<Result<'text>, ImportError> {
    let told = fields.len() >= FIELDS_NEW + 4;
    let shift = if told { 2 } else { 0 };
    let block = if fields[6].text.is_empty() { BLOCK } else { fields[6].size("the size of a block")? };
    let seeks = if told { whole_or(&fields[7], SEEKS, "a number of seeks")? } else { SEEKS };
    let seekers = if told { whole_or(&fields[8], 5, "a number of processes")? } else { 5 };
    Ok(Result {
        version: Some(fields[1].text),
        host: fields[2].text,
        size: fields[5],
        block,
        seeks,
        seekers: fields[8].needs(u32::try_from(seekers).ok(), "a number of processes")?,
        transfers: six(&fields[7 + shift..19 + shift]),
        files: Some(fields[19 + shift]),
        of_files: pairs(&fields[24 + shift..36 + shift]),
    })
}

fn whole_or(field: &Field<'_>, default: u64, what: &str) -> std::result::Result<u64, ImportError> {
    if field.text.is_empty() { Ok(default) } else { field.whole(what) }
}

/// The text with blanks for what quotations, HTML and bold type add to a table, so that columns stay where they are.
fn without_marks(text: &str) -> String {
    let mut is_tag = false;
    let mut plain = String::with_capacity(text.len());
    for letter in text.chars() {
        is_tag = (is_tag || letter == '<') && letter != '\n';
        plain.push(if is_tag || matches!(letter, '>' | '*') { ' ' } else { letter });
        is_tag &= letter != '>';
    }
    plain
}

/// A row of the table: a name, which may have blanks or be missing, a size, and six figures with shares; with `-f` four.
fn table_row<'text>(words: &[Field<'text>], version: Option<&'text str>) -> Option<Result<'text>> {
    let figures = words.iter().rev().take_while(|word| is_rate(word.text)).count();
    let (before, figures) = words.split_at(words.len() - figures);
    let nothing = Field { text: "", ..*words.first()? };
    let figures: Vec<Field<'text>> = match figures.len() {
        12 => figures.to_vec(),
        8 => [&[nothing; 2], &figures[..4], &[nothing; 2], &figures[4..]].concat(),
        _ => return None,
    };
    let last = before.last()?;
    // A long name leaves no blank before the size.
    let name = last
        .text
        .trim_end_matches(['k', 'K', 'M', 'G'])
        .trim_end_matches(|letter: char| letter.is_ascii_digit());
    let from = if is_size(last.text) { 0 } else { name.len() };
    let size =
        Field { text: &last.text[from..], column: last.column + name[..from].chars().count(), ..*last };
    if !is_size(size.text) {
        return None;
    }
    let seekers = if version.unwrap_or_default().starts_with('2') { 5 } else { SEEKERS };
    let host = if before.len() > 1 { before[0].text } else { &last.text[..from] };
    Some(Result {
        version,
        host,
        size,
        block: BLOCK,
        seeks: SEEKS,
        seekers,
        transfers: six(&figures),
        files: None,
        of_files: Vec::new(),
    })
}

/// A figure of the table or its share; only version 2 has units, in small letters.
fn is_rate(text: &str) -> bool {
    text.starts_with("++") || number(text.trim_end_matches(['k', 'm', 'g'])).is_some()
}

/// What each figure of a transfer is called, and what it does.
const TRANSFERS: [(&str, &[Operation], bool); 5] = [
    ("write per character", &[Operation::Write], true),
    ("block write", &[Operation::Write], false),
    ("block rewrite", &[Operation::Read, Operation::Write], false),
    ("read per character", &[Operation::Read], true),
    ("block read", &[Operation::Read], false),
];
const OF_FILES: [&str; 6] = [
    "create files in order",
    "look at files in order",
    "delete files in order",
    "create files at random",
    "look at files at random",
    "delete files at random",
];

fn take(imported: &mut Imported, result: Result<'_>) -> std::result::Result<(), ImportError> {
    if imported.sets.len() >= RESULTS_MAX {
        return Err(result.size.error(format!("at most {RESULTS_MAX} results in one text")));
    }
    if imported.version.is_none() {
        imported.version = result.version.map(str::to_owned);
        imported.host = if result.host.is_empty() { None } else { Some(result.host.to_owned()) };
    }
    let mut set = Set::default();
    let mut too_quick = Vec::new();
    let (size, chunk) = result.size.text.split_once(':').unwrap_or((result.size.text, ""));
    let size = Field { text: size, ..result.size };
    let bytes = if size.text.is_empty() { 0 } else { size.size("the size of the file, such as 48G")? };
    let block = if chunk.is_empty() {
        result.block
    } else {
        Field { text: chunk, ..size }.size("the size of a block")?
    };
    for ((name, operations, by_character), (rate, share)) in TRANSFERS.into_iter().zip(result.transfers) {
        let Some(kib) = timed(&rate, name, &mut too_quick)? else { continue };
        let block = if by_character { 1 } else { block };
        let moved = operations.iter().map(|operation| (*operation, bytes.div_ceil(block.max(1)), bytes));
        let transfer = Transfer {
            moved: moved.collect(),
            ..Transfer::of(Order::Sequential, Operation::Read, bytes, block)
        };
        let figure = Figure::of(name, transfer, bytes as f64 / (kib * 1024.0));
        set.figures.push(Figure { cpu_share: processor(&share)?, ..figure });
    }
    let (rate, share) = result.transfers[5];
    if let Some(per_second) = timed(&rate, "random seeks", &mut too_quick)? {
        set.figures.push(Figure { cpu_share: processor(&share)?, ..seeks(&result, block, per_second) });
    }
    if let Some(files) = result.files
        && !files.text.is_empty()
    {
        let (thousands, _) = files.number_and_rest("a number of files")?;
        let count = files.needs(rounded(thousands * 1024.0), "a number of files")?;
        for (name, (rate, share)) in OF_FILES.into_iter().zip(&result.of_files) {
            let Some(per_second) = timed(rate, name, &mut too_quick)? else { continue };
            let figure = Figure::of(name, Work::Files(count), count as f64 / per_second);
            set.figures.push(Figure { cpu_share: processor(share)?, ..figure });
        }
    }
    if !too_quick.is_empty() {
        imported.notes.push(format!(
            "Over too soon for bonnie++ to time, and printed as plus signs: {}.",
            too_quick.join(", ")
        ));
    }
    imported.sets.push(set);
    Ok(())
}

fn seeks(result: &Result<'_>, block: u64, per_second: f64) -> Figure {
    let written = (result.seeks as f64 * WRITTEN_BACK) as u64;
    let moved = vec![
        (Operation::Read, result.seeks, result.seeks.saturating_mul(block)),
        (Operation::Write, written, written.saturating_mul(block)),
    ];
    let transfer = Transfer { moved, ..Transfer::of(Order::Random, Operation::Read, 0, block) };
    Figure::of("random seeks", transfer.deep(1, result.seekers), result.seeks as f64 / per_second)
}

/// The rate of a field; none when it is empty or plus signs. Version 2 writes `665k` and `1.2g` in its table, in units of bytes.
fn timed(
    field: &Field<'_>,
    name: &'static str,
    too_quick: &mut Vec<&'static str>,
) -> std::result::Result<Option<f64>, ImportError> {
    if field.text.starts_with('+') {
        too_quick.push(name);
    }
    if field.text.is_empty() || field.text.starts_with('+') {
        return Ok(None);
    }
    let what = "a rate or plus signs";
    let (value, unit) = field.number_and_rest(what)?;
    let value = match unit {
        "" | "k" => value,
        "m" => value * 1024.0,
        "g" => value * 1024.0 * 1024.0,
        _ => return Err(field.error(what)),
    };
    if value > 0.0 { Ok(Some(value)) } else { Err(field.error("a rate above zero or plus signs")) }
}

fn processor(field: &Field<'_>) -> std::result::Result<Option<f64>, ImportError> {
    if field.text.is_empty() || field.text.starts_with('+') {
        return Ok(None);
    }
    Ok(Some(field.number("a share of a processor in percent")? / 100.0))
}
