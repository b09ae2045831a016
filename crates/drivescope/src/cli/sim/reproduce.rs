//! `drivescope sim reproduce`.

use crate::cli::args::SimReproduceArguments;
use crate::cli::{output, output_file};
use crate::error::{UserError, exit};
use crate::reproduce::{Article, markdown, pictures, reproduce, terminal};

pub fn run(arguments: &SimReproduceArguments) -> Result<u8, UserError> {
    let Some(article) = Article::from_letter(&arguments.article) else {
        let letter = &arguments.article;
        return Err(UserError::usage(format!("there is no article {letter}; give A, B, C, D or E")));
    };
    let reproduction = reproduce(article)?;
    if let Some(folder) = &arguments.pictures {
        for (name, picture) in pictures(&reproduction) {
            output_file::write(&folder.join(name), "the picture", picture.as_bytes())?;
        }
    }
    let page = match arguments.markdown {
        true => markdown(&reproduction),
        false => terminal(&reproduction, output::page_style(arguments.plain)),
    };
    output::print(&page)?;
    Ok(exit::SUCCESS)
}
