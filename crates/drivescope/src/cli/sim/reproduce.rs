//! `drivescope sim reproduce`.

use crate::cli::args::SimReproduceArguments;
use crate::cli::{output, output_file};
use crate::error::{UserError, exit};
use crate::reproduce::{Article, markdown, pictures, reproduce, terminal};

pub fn run(arguments: &SimReproduceArguments) -> Result<u8, UserError> {
    let Some(article) = Article::from_name(&arguments.article.to_ascii_uppercase()) else {
        let letter = &arguments.article;
        return Err(UserError::usage(format!("there is no article {letter}; give A, B, C, D or E")));
    };
    let reproduction = reproduce(article)?;
    if let Some(folder) = &arguments.pictures {
        for (name, picture) in pictures(&reproduction) {
            output_file::write(&folder.join(name), "the picture", picture.as_bytes())?;
        }
    }
    if arguments.markdown {
        output::print(&markdown(&reproduction))?;
        return Ok(exit::SUCCESS);
    }
    let page = |style| terminal(&reproduction, style);
    output::give_page(page, &reproduction, &arguments.page)?;
    Ok(exit::SUCCESS)
}
