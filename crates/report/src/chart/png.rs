//! A picture as PNG, drawn from the SVG with a font of its own: the same on every machine, whether or not it has fonts.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use std::sync::Arc;

/// DejaVu Sans 2.37, reduced to the letters and signs that names and numbers need. Its licence lies beside it.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");
const FONT_FAMILY: &str = "DejaVu Sans";

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// The SVG cannot be read.
    #[error("the picture cannot be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// It is larger than memory allows, or empty.
    #[error("a picture of {width} × {height} pixels cannot be made")]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// It cannot be packed.
    #[error("the picture cannot be packed: {0}")]
    Packing(String),
}

/// The PNG of an SVG of [`super::svg::document`], one pixel for each of its units.
///
/// # Errors
/// When it is no such SVG, or there is no memory for its pixels.
pub fn image(svg: &str) -> Result<Vec<u8>, PngError> {
    enlarged(svg, 1.0)
}

/// The same with so many pixels for each of its units across and down.
///
/// # Errors
/// As [`image`].
pub fn enlarged(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let mut options = usvg::Options { font_family: FONT_FAMILY.into(), ..usvg::Options::default() };
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FONT_FAMILY);
    let tree = usvg::Tree::from_str(svg, &options)?;
    let size = tree.size().to_int_size();
    let size = size.scale_by(scale).ok_or(PngError::Size { width: size.width(), height: size.height() })?;
    let (width, height) = (size.width(), size.height());
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Packing(error.to_string()))
}
