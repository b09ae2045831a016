//! A picture as PNG, drawn from the SVG with a font of its own: the same on every machine, whether or not it has fonts.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;
use std::fmt::Write;
use ttf_parser::{Face, OutlineBuilder};

/// DejaVu Sans 2.37, reduced to the letters and signs that names and numbers need. Its licence lies beside it.
const FONT: &[u8] = include_bytes!("../../fonts/DejaVuSans-subset.ttf");

#[derive(Debug, thiserror::Error)]
pub enum PngError {
    #[error("the picture cannot be drawn: {0}")]
    Svg(#[from] usvg::Error),
    #[error("the picture cannot be read: {0}")]
    Xml(#[from] roxmltree::Error),
    /// It is larger than memory allows, or empty.
    #[error("a picture of {width} × {height} pixels cannot be made")]
    Size { width: u32, height: u32 },
    #[error("the picture cannot be packed: {0}")]
    Packing(String),
}

/// The PNG of an SVG of [`super::svg::document`], one pixel for each of its units.
pub fn image(svg: &str) -> Result<Vec<u8>, PngError> {
    enlarged(svg, 1.0)
}

pub fn enlarged(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let tree = usvg::Tree::from_str(&with_outlines(svg)?, &usvg::Options::default())?;
    let size = tree.size().to_int_size();
    let size = size.scale_by(scale).ok_or(PngError::Size { width: size.width(), height: size.height() })?;
    let (width, height) = (size.width(), size.height());
    let mut pixels = Pixmap::new(width, height).ok_or(PngError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Packing(error.to_string()))
}

/// The SVG with its texts as outlines on top of everything else. The font has nothing that needs shaping, which takes 12 more crates.
fn with_outlines(svg: &str) -> Result<String, PngError> {
    let document = roxmltree::Document::parse(svg)?;
    let face = Face::parse(FONT, 0).expect("the font that is built in is one");
    let mut outlines = String::new();
    for text in document.descendants().filter(|node| node.has_tag_name("text")) {
        outlines += &outlined(&face, text);
    }
    let end = svg.rfind("</svg>").unwrap_or(svg.len());
    Ok(format!("{}{outlines}{}", &svg[..end], &svg[end..]))
}

fn outlined(face: &Face<'_>, node: roxmltree::Node<'_, '_>) -> String {
    let number = |name| node.attribute(name).and_then(|value| value.parse::<f32>().ok()).unwrap_or(0.0);
    let text = node.text().unwrap_or_default();
    let scale = number("font-size") / f32::from(face.units_per_em());
    let mut glyphs = Vec::new();
    let mut width = 0.0;
    for character in text.chars() {
        let glyph = face.glyph_index(character).unwrap_or_default();
        glyphs.push((glyph, width));
        width += f32::from(face.glyph_hor_advance(glyph).unwrap_or(0)) * scale;
    }
    let start = match node.attribute("text-anchor") {
        Some("middle") => number("x") - width / 2.0,
        Some("end") => number("x") - width,
        _ => number("x"),
    };
    let mut path = GlyphPath { scale, x: 0.0, y: number("y"), data: String::new() };
    for (glyph, offset) in glyphs {
        path.x = start + offset;
        face.outline_glyph(glyph, &mut path);
    }
    format!(r#"<path d="{}" fill="{}"/>"#, path.data, node.attribute("fill").unwrap_or("black"))
}

/// The outline of a glyph as data of an SVG path. Fonts count upwards, pictures downwards.
struct GlyphPath {
    scale: f32,
    x: f32,
    y: f32,
    data: String,
}

impl GlyphPath {
    fn put(&mut self, command: char, points: &[(f32, f32)]) {
        self.data.push(command);
        for (x, y) in points {
            let _ = write!(self.data, "{:.2} {:.2} ", self.x + x * self.scale, self.y - y * self.scale);
        }
    }
}

impl OutlineBuilder for GlyphPath {
    fn move_to(&mut self, x: f32, y: f32) {
        self.put('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.put('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.put('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.put('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.data.push('Z');
    }
}
