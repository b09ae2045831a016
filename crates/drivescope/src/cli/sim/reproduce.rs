//! `drivescope sim reproduce`.

use crate::cli::args::SimReproduceArguments;
use crate::cli::{output, output_file};
use crate::error::{UserError, exit};
use crate::reproduce::{Article, reproduce};

/// Runs the command; the exit status.
///
/// # Errors
/// When there is no such article, or nobody takes the page.
pub fn run(arguments: &SimReproduceArguments) -> Result<u8, UserError> {
    let article = Article::from_letter(&arguments.article).ok_or_else(|| {
        UserError::usage(format!("there is no article {}; give A, B, C, D or E", arguments.article))
    })?;
    let reproduction = reproduce(article)?;
    if let Some(folder) = &arguments.pictures {
        for (name, picture) in reproduction.pictures() {
            output_file::write(&folder.join(name), "the picture", picture.as_bytes())?;
        }
    }
    let page = match arguments.markdown {
        true => reproduction.markdown(),
        false => reproduction.page(output::page_style(arguments.plain)),
    };
    output::print(&page)?;
    Ok(exit::SUCCESS)
}
