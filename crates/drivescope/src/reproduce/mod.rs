//! What five people measured by hand, done again on virtual drives in virtual time, and set against what they
//! published.
//!
//! Each file is one article: it runs the phases that its author ran, on the virtual drive that matches, and puts every
//! figure beside the published one. Nothing is taken from the published side but the figure that it is compared with.

mod figure;
mod full_pass;
mod host;
mod page;
mod partitions;
mod picture;
mod published;
mod shelf;
mod sustained_write;
mod threads;
mod valleys;

pub use figure::{Figure, Verdict};

use crate::error::UserError;
use figure::Table;
use report::chart::Chart;
use report::style::Style;
use shelf::Shelf;

/// Of all randomness in a re-enactment, so that its page is the same each time.
const SEED: u64 = 1;

/// The articles, by the letters that the command takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Article {
    /// Outer against inner tracks of a hard disk (2011).
    A,
    /// Speed of random reads against the number of threads (2008).
    B,
    /// Basic performance of a hard disk before the system goes on (2012).
    C,
    /// Are hard disks with shingled tracks and SSDs alike? (2021).
    D,
    /// Valleys in the sequential writes of an Intel X25-M (2009).
    E,
}

/// What came of doing one article again.
#[derive(Clone, Debug)]
pub struct Reproduction {
    /// Which.
    pub article: Article,
    title: &'static str,
    setting: String,
    tables: Vec<Table>,
    pictures: Vec<Chart>,
    conclusion: String,
}

impl Article {
    /// All of them.
    pub const ALL: [Article; 5] = [Article::A, Article::B, Article::C, Article::D, Article::E];

    /// Its letter.
    pub fn letter(self) -> &'static str {
        match self {
            Article::A => "A",
            Article::B => "B",
            Article::C => "C",
            Article::D => "D",
            Article::E => "E",
        }
    }

    /// The article with that letter.
    pub fn from_letter(letter: &str) -> Option<Article> {
        Article::ALL.into_iter().find(|article| article.letter().eq_ignore_ascii_case(letter))
    }
}

/// Does an article again. The same program gives the same figures each time.
///
/// # Errors
/// When a virtual drive cannot be opened or a phase cannot be run, which is an error of the program.
pub fn reproduce(article: Article) -> Result<Reproduction, UserError> {
    reproduce_with(article, &Shelf::as_sold())
}

fn reproduce_with(article: Article, shelf: &Shelf) -> Result<Reproduction, UserError> {
    match article {
        Article::A => partitions::reproduce(shelf),
        Article::B => threads::reproduce(shelf),
        Article::C => full_pass::reproduce(shelf),
        Article::D => sustained_write::reproduce(shelf),
        Article::E => valleys::reproduce(shelf),
    }
}

impl Reproduction {
    /// All figures, in the order of the page.
    pub fn figures(&self) -> impl Iterator<Item = &Figure> {
        self.tables.iter().flat_map(|table| &table.figures)
    }

    /// As a page for a terminal.
    pub fn page(&self, style: Style) -> String {
        page::terminal(self, style)
    }

    /// The pictures of its page of Markdown: the name of each file, and what is in it.
    pub fn pictures(&self) -> impl Iterator<Item = (String, String)> {
        self.pictures.iter().map(|chart| (picture::file_name(chart), picture::document(chart)))
    }

    /// As a page of Markdown.
    pub fn markdown(&self) -> String {
        page::markdown(self)
    }
}

#[cfg(test)]
mod tests;
