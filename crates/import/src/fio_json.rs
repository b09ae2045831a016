//! fio's JSON and JSON+: each job and direction is a figure, with all latencies where JSON+ has their bins. Lines before the JSON, which fio
//! prints there when it has something to say, are passed over.

use crate::error::ImportError;
use crate::figure::{Figure, Imported, Set, Transfer};
use crate::fio::{Options, REQUESTS_MAX, Syncs, WITH_LATENCIES_MAX, note_writes, order_of, place_of, short};
use crate::text::rounded;
use model::histogram::LatencyHistogram;
use model::request::Operation;
use serde_json::Value;

const MARK: &str = "\"fio version\"";

pub(crate) fn fits(text: &str) -> bool {
    text.contains('{') && text.contains(MARK)
}

pub(crate) fn read(text: &str) -> Result<Imported, ImportError> {
    let mut imported = Imported { tool: "fio", ..Imported::default() };
    let mark = if text.contains(MARK) { MARK } else { "{" };
    if !text.contains(mark) {
        return Err(ImportError::whole("JSON"));
    }
    let mut done = 0;
    // A post may have several documents, and braces in its prose.
    while let Some(at) = text[done..].find(mark) {
        let start = done + text[done..=done + at].rfind('{').unwrap_or(at);
        let lines_before = text[..start].matches('\n').count();
        let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        match documents.next() {
            Some(Ok(document)) => document_into(&mut imported, &document)?,
            Some(Err(error)) => return Err(ImportError::json(&error, lines_before)),
            None => return Err(ImportError::whole("JSON")),
        }
        // The mark itself at least is behind, whatever the document was.
        done = (start + documents.byte_offset()).max(done + at + 1);
    }
    if imported.direct == Some(false) {
        imported.note("fio ran without direct=1, so the page cache may have served requests.");
    }
    Ok(imported)
}

fn document_into(imported: &mut Imported, document: &Value) -> Result<(), ImportError> {
    if imported.version.is_none() {
        let version = document["fio version"].as_str();
        imported.version = version.map(|version| version.trim_start_matches("fio-").to_owned());
        imported.measured_unix_s = document["timestamp"].as_u64();
    }
    let Some(jobs) = document["jobs"].as_array() else {
        return Err(ImportError::whole("a list of jobs under \"jobs\""));
    };
    let mut group = None;
    for job in jobs {
        let options = Options::of_job(&job["job options"], &document["global options"]);
        let direct = options.direct().unwrap_or(false);
        imported.direct = Some(imported.direct.unwrap_or(true) && direct);
        if imported.target.is_none() {
            imported.target = options.get("filename").map(str::to_owned);
        }
        if group.is_some() && group == job["groupid"].as_u64() {
            imported.note("fio ran several jobs at the same time: their figures share the drive. With --group_reporting they are one.");
        }
        group = job["groupid"].as_u64();
        let mut figures: Vec<Figure> = Vec::new();
        figures.extend(figure(job, &options)?);
        let flushes = syncs(job).figure(figures.first(), &options);
        note_writes(imported, flushes.as_ref());
        figures.extend(flushes);
        if imported.sets.len() >= WITH_LATENCIES_MAX {
            for figure in &mut figures {
                figure.latencies = None;
            }
        }
        if !figures.is_empty() {
            imported.sets.push(Set { figures });
        }
        if job["error"].as_i64().unwrap_or(0) != 0 {
            let name = job["jobname"].as_str().unwrap_or("without a name");
            imported.note(format!("fio's job {} ended with an error.", short(name)));
        }
    }
    Ok(())
}

fn figure(job: &Value, options: &Options) -> Result<Option<Figure>, ImportError> {
    let mode = options.mode().unwrap_or("read");
    let order = order_of(mode);
    let mut moved = Vec::new();
    let mut milliseconds = 0u64;
    let mut latencies = None;
    for (key, operation) in
        [("read", Operation::Read), ("write", Operation::Write), ("trim", Operation::Discard)]
    {
        let side = &job[key];
        let (Some(bytes), Some(count)) = (side["io_bytes"].as_u64(), side["total_ios"].as_u64()) else {
            continue;
        };
        if bytes > 0 && count > 0 {
            moved.push((operation, count, bytes));
            milliseconds = milliseconds.max(side["runtime"].as_u64().unwrap_or(0));
            latencies = binned(side);
        }
    }
    let (Some((operation, count, bytes)), true) = (moved.first().copied(), milliseconds > 0) else {
        return Ok(None);
    };
    let block = options.block().unwrap_or(bytes / count);
    let place = place_of(options, order, bytes);
    let latencies = if moved.len() == 1 { latencies.map(Box::new) } else { None };
    let transfer = Transfer { moved, ..Transfer::of(order, operation, bytes, block) };
    let transfer = transfer.deep(options.number("iodepth").unwrap_or(1), options.jobs());
    let figure = transfer.figure(milliseconds as f64 / 1e3).at(place);
    Ok(Some(Figure { latencies, ..figure }))
}

fn syncs(job: &Value) -> Syncs {
    let lat = &job["sync"]["lat_ns"];
    let told = lat["N"].as_u64().or(job["sync"]["total_ios"].as_u64());
    let mut percentiles = Vec::new();
    for (percent, latency) in lat["percentile"].as_object().into_iter().flatten() {
        if let (Ok(percent), Some(latency)) = (percent.parse::<f64>(), latency.as_f64())
            && percent > 0.0
        {
            percentiles.push((percent, latency));
        }
    }
    percentiles.sort_by(|one, other| one.0.total_cmp(&other.0));
    Syncs { count: told.unwrap_or(0), mean_ns: lat["mean"].as_f64().unwrap_or(0.0), percentiles }
}

fn binned(side: &Value) -> Option<LatencyHistogram> {
    let bins = side["clat_ns"]["bins"].as_object().or(side["lat_ns"]["bins"].as_object())?;
    let mut histogram = LatencyHistogram::default();
    let mut all = 0u64;
    for (latency, count) in bins {
        let (latency_ns, count) = (latency.parse::<u64>().ok()?, count.as_u64()?);
        all = all.checked_add(count)?;
        if all > REQUESTS_MAX {
            return None;
        }
        histogram.record_many(latency_ns, count);
    }
    rounded(histogram.mean_ns()?)?;
    histogram.shrink();
    Some(histogram)
}
