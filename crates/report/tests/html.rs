//! The page of a report as text: it asks for nothing, hostile names stay text, and what is drawn is there without its script.
//! What it does in a browser is tested in `web/tests/`.

#[allow(dead_code, reason = "each test uses some of the runs")]
mod runs;

use model::run::Run;
use report::chart::{ChartedRun, charts_of};
use report::html::{ReportPage, content_security_policy, page};

fn page_of<'run>(all: &[&'run Run]) -> String {
    let charted = |(run, letter): (&&'run Run, &'static str)| ChartedRun {
        run,
        series: None,
        letter: (all.len() > 1).then_some(letter),
    };
    let charted: Vec<ChartedRun<'run>> = all.iter().zip(["A", "B", "C"]).map(charted).collect();
    let charts = charts_of(&charted);
    page(&ReportPage { runs: &charted, charts: &charts, comparison: None, home: None })
}

/// The page without its own script, which may hold anything.
fn without_script(page: &str) -> String {
    let start = page.rfind("<script>").expect("the page has a script");
    let end = page.rfind("</script>").expect("which ends");
    format!("{}{}", &page[..start], &page[end..])
}

#[test]
fn the_answer_comes_first_then_charts_findings_and_method() {
    let text = page_of(&[&runs::hard_disk()]);
    let places: Vec<usize> = [
        "<h1 id=\"title\">ST3000DM001-1CH166</h1>",
        "class=\"verdict",
        "class=\"tiles\"",
        "id=\"charts\"",
        "id=\"findings\"",
        "id=\"method\"",
        "Repeat",
    ]
    .map(|part| text.find(part).unwrap_or_else(|| panic!("{part} is missing")))
    .to_vec();
    assert!(places.is_sorted(), "{places:?}");
    assert!(text.contains("<svg ") && text.contains("application/json"));
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
}

#[test]
fn a_drive_that_fails_is_not_called_sound() {
    let text = page_of(&[&runs::failing()]);
    assert!(text.contains(r#"<div class="verdict bad"><strong>"#), "the verdict is bad");
    assert!(!text.contains("No failure seen"));
}

#[test]
fn the_page_asks_for_nothing_and_allows_only_its_own() {
    let text = page_of(&[&runs::hard_disk(), &runs::scratch_file()]);
    let policy = content_security_policy();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe"));
    assert!(text.contains(&format!("content=\"{policy}\"")));
    let markup = without_script(&text).replace("http://www.w3.org/2000/svg", "");
    for way_out in
        ["http://", "https://", "src=", "<link", "@import", "url(", "<iframe", " style=\"", " onclick"]
    {
        assert!(!markup.contains(way_out), "{way_out}");
    }
}

#[test]
fn what_a_drive_calls_itself_is_text_everywhere() {
    let evil = "</script><script>alert(1)</script><img src=x onerror=\"alert(2)\">\u{2028}'";
    let mut run = runs::hard_disk();
    run.target.model = Some(evil.into());
    run.target.serial = Some(evil.into());
    run.target.path = evil.into();
    run.command = evil.into();
    run.environment.host = evil.into();
    run.environment.warnings = vec![evil.into()];
    run.state_before = vec![evil.into()];
    for phase in &mut run.phases {
        phase.phase.name = evil.into();
    }
    let mut other = run.clone();
    other.id = evil.into();
    for text in [page_of(&[&run]), page_of(&[&run, &other])] {
        let markup = without_script(&text);
        assert!(
            !markup.contains("<script>alert") && !markup.contains("<img"),
            "markup of the drive is in the page"
        );
        assert!(!markup.contains('\u{2028}'));
        assert!(markup.contains("&lt;script&gt;alert(1)"), "it is shown as it is");
        assert_eq!(markup.matches("<script").count(), markup.matches("</script>").count() - 1);
    }
}
