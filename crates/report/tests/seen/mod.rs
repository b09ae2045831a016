//! What a reader sees of a chart: where its texts are, and whether one lies on another.

use report::chart::Chart;
use report::chart::svg::{self, Size, Theme, text_width};

/// Keeps the picture where `CHARTS_DIR` says, to be looked at.
pub fn keep(name: &str, chart: &Chart) {
    let Some(folder) = std::env::var_os("CHARTS_DIR") else { return };
    let folder = std::path::PathBuf::from(folder);
    for (theme, suffix) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
        let svg = svg::document(chart, theme);
        #[cfg(feature = "png")]
        {
            let png = report::chart::png::image(&svg).unwrap();
            std::fs::write(folder.join(format!("{name}-{suffix}.png")), png).unwrap();
        }
        std::fs::write(folder.join(format!("{name}-{suffix}.svg")), svg).unwrap();
    }
}

/// Left, top, right, bottom.
pub type Box4 = (f64, f64, f64, f64);

fn attribute(node: &roxmltree::Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).and_then(|text| text.parse().ok()).unwrap_or_else(|| panic!("{name} of {node:?}"))
}

/// Where each text is, by the widths of the font.
pub fn text_boxes(document: &roxmltree::Document<'_>) -> Vec<(String, Box4)> {
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts
        .map(|node| {
            let text = node.text().unwrap_or_default().to_string();
            let size = attribute(&node, "font-size");
            let (x, y, width) = (attribute(&node, "x"), attribute(&node, "y"), text_width(&text, size));
            let left = match node.attribute("text-anchor") {
                Some("middle") => x - width / 2.0,
                Some("end") => x - width,
                _ => x,
            };
            // Ascender and descender of letters in DejaVu Sans: 0.76 and 0.24 of the size.
            (text, (left, y - 0.76 * size, left + width, y + 0.24 * size))
        })
        .collect()
}

/// It is well-formed, says what it shows, and no text in it lies on another, light and dark, in both sizes.
pub fn check_picture(name: &str, chart: &Chart) {
    for (theme, size) in
        [(Theme::Light, Size::Forum), (Theme::Dark, Size::Forum), (Theme::Light, Size::Paper)]
    {
        let svg = svg::sized(chart, theme, size);
        let document =
            roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}\n{svg}"));
        let root = document.root_element();
        let extent = root.attribute("viewBox").unwrap_or_default().split(' ').skip(2);
        let extent: Vec<f64> = extent.filter_map(|number| number.parse().ok()).collect();
        let [width, height] = extent[..] else { panic!("{name}: {extent:?}") };
        assert_eq!(width, if size == Size::Forum { 1000.0 } else { 560.0 }, "{name}");
        let labelled = root.attribute("aria-labelledby").unwrap_or_default();
        for id in labelled.split(' ') {
            let said = document.descendants().find(|node| node.attribute("id") == Some(id));
            assert!(
                said.and_then(|node| node.text()).is_some_and(|text| !text.is_empty()),
                "{name}: {id} is empty"
            );
        }
        let boxes = text_boxes(&document);
        for (index, (text, (left, top, right, bottom))) in boxes.iter().enumerate() {
            assert!(
                *left >= 0.0 && *right <= width && *top >= 0.0 && *bottom <= height,
                "{name}: {text:?} leaves the picture: {left} {top} {right} {bottom}"
            );
            for (other, (l, t, r, b)) in &boxes[index + 1..] {
                let overlap = left < r && l < right && top < b && t < bottom;
                assert!(!overlap, "{name}: {text:?} lies on {other:?}");
            }
        }
        check_plot(name, &document);
    }
}

/// Everything drawn lies within one of the plots.
fn check_plot(name: &str, document: &roxmltree::Document<'_>) {
    let panels: Vec<Box4> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("panel"))
        .map(|panel| {
            let [x, y, width, height] = ["x", "y", "width", "height"].map(|side| attribute(&panel, side));
            (x, y, x + width, y + height)
        })
        .collect();
    assert!(!panels.is_empty(), "{name}: no plot");
    let series = document.descendants().filter(|node| node.attribute("class") == Some("series"));
    for path in
        series.flat_map(|group| group.children().filter(|node| node.has_tag_name("path")).collect::<Vec<_>>())
    {
        for place in path.attribute("d").unwrap_or_default().split('M').filter(|place| !place.is_empty()) {
            let numbers: Vec<f64> = place
                .split(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
                .filter_map(|text| text.parse().ok())
                .take(2)
                .collect();
            let [x, y] = numbers[..] else { panic!("{name}: {place}") };
            // A sign begins half its size from where it is.
            let is_inside = panels.iter().any(|(left, top, right, bottom)| {
                x >= left - 6.0 && x <= right + 6.0 && y >= top - 6.0 && y <= bottom + 6.0
            });
            assert!(is_inside, "{name}: {x} {y} is outside of {panels:?}");
        }
    }
}
