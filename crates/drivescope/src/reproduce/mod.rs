//! What five people measured by hand, repeated on virtual drives in virtual time and compared with what they published.
//!
//! Each article has a file: it runs the phases that its author ran, on the virtual drive that matches, and puts every
//! figure beside the published one. Nothing is taken from the published side but the figure to compare with.

mod article;
mod figure;
mod full_pass;
mod host;
mod page;
mod partitions;
mod picture;
mod published;
mod shelf;
mod sustained_write;
#[cfg(test)]
mod tests;
mod threads;
mod valleys;

pub use article::{Article, Reproduction};
pub use figure::{Figure, Verdict};
pub use page::{markdown, terminal};

use crate::error::UserError;
use shelf::Shelf;

/// Repeats an article. The same program gives the same figures each time.
/// Fails when a virtual drive cannot be opened or a phase cannot be run, which is an error of the program.
pub fn reproduce(article: Article) -> Result<Reproduction, UserError> {
    reproduce_on(article, &Shelf::as_sold())
}

fn reproduce_on(article: Article, shelf: &Shelf) -> Result<Reproduction, UserError> {
    match article {
        Article::A => partitions::reproduce(shelf),
        Article::B => threads::reproduce(shelf),
        Article::C => full_pass::reproduce(shelf),
        Article::D => sustained_write::reproduce(shelf),
        Article::E => valleys::reproduce(shelf),
    }
}

pub fn pictures(reproduction: &Reproduction) -> impl Iterator<Item = (String, String)> {
    reproduction.pictures.iter().map(|chart| (picture::file_name(chart), picture::document(chart)))
}
