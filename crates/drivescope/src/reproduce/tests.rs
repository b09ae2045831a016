//! Every article is done again: what agrees and what differs is as it was, its page is the one in the documentation,
//! and a wrong drive fails.

use super::*;
use sim::profile::Profile;
use std::sync::LazyLock;

static A: LazyLock<Reproduction> = LazyLock::new(|| reproduce(Article::A).unwrap());
static B: LazyLock<Reproduction> = LazyLock::new(|| reproduce(Article::B).unwrap());
static C: LazyLock<Reproduction> = LazyLock::new(|| reproduce(Article::C).unwrap());
static D: LazyLock<Reproduction> = LazyLock::new(|| reproduce(Article::D).unwrap());
static E: LazyLock<Reproduction> = LazyLock::new(|| reproduce(Article::E).unwrap());

/// Names of the figures with that verdict.
fn named(reproduction: &Reproduction, verdict: Verdict) -> Vec<&str> {
    reproduction.figures().filter(|figure| figure.verdict() == verdict).map(|figure| figure.name.as_str()).collect()
}

fn count(reproduction: &Reproduction, verdict: Verdict) -> usize {
    named(reproduction, verdict).len()
}

/// Nothing fails, and the page in the documentation is what the program prints.
fn check(reproduction: &Reproduction) {
    assert_eq!(named(reproduction, Verdict::Fails), [""; 0]);
    let letter = reproduction.article.letter().to_lowercase();
    let path = format!("{}/../../docs/generated/reproduce-{letter}.md", env!("CARGO_MANIFEST_DIR"));
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let advice = format!("make it anew: drivescope sim reproduce {letter} --markdown > docs/generated/reproduce-{letter}.md");
    assert!(committed == reproduction.markdown(), "the page in the documentation is not what the program prints; {advice}");
    let style = Style { width: 100, colour: false, unicode: true };
    let page = reproduction.page(style);
    let widest = page.lines().max_by_key(|line| report::style::columns_of(line)).unwrap();
    assert!(report::style::columns_of(widest) <= 100, "{widest}");
}
