//! Elements of a picture as markup.

use super::super::drawing::{Ink, Pen};
use super::super::layout::Panel;
use super::palette::Theme;
use maud::{Markup, html};

pub(super) struct Canvas {
    pub markup: String,
    pub theme: Theme,
}

#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

pub(super) struct Paint {
    fill: String,
    fill_opacity: Option<f64>,
    pub stroke: Option<String>,
    pub width: Option<f64>,
    opacity: Option<f64>,
    pub dash: Option<String>,
}

pub(super) fn px(pixels: f64) -> String {
    format!("{pixels:.1}")
}

impl Canvas {
    pub(super) fn new(theme: Theme) -> Canvas {
        Canvas { markup: String::new(), theme }
    }

    pub(super) fn put(&mut self, markup: Markup) {
        self.markup.push_str(&markup.into_string());
        self.markup.push('\n');
    }

    pub(super) fn paint(&self, pen: Pen, ink: Ink) -> Paint {
        let colour = self.theme.colour(ink).into_owned();
        let is_stroked = pen.width > 0.0;
        let dash: Vec<String> = pen.dash.iter().map(f64::to_string).collect();
        Paint {
            fill: if pen.fill > 0.0 { colour.clone() } else { "none".into() },
            fill_opacity: (pen.fill > 0.0 && pen.fill < 1.0).then_some(pen.fill),
            stroke: is_stroked.then_some(colour),
            width: is_stroked.then_some(pen.width),
            opacity: (is_stroked && pen.opacity < 1.0).then_some(pen.opacity),
            dash: if dash.is_empty() { None } else { Some(dash.join(" ")) },
        }
    }

    pub(super) fn path(&mut self, class: &str, path: &str, pen: Pen, ink: Ink) {
        if path.is_empty() {
            return;
        }
        let paint = self.paint(pen, ink);
        self.put(html! {
            path class=(class) d=(path) fill=(paint.fill) fill-opacity=[paint.fill_opacity] stroke=[paint.stroke]
                stroke-width=[paint.width] stroke-opacity=[paint.opacity] stroke-dasharray=[paint.dash] {}
        });
    }

    pub(super) fn rect(&mut self, class: &str, finding: Option<&str>, panel: Panel, pen: Pen, ink: Ink) {
        let paint = self.paint(pen, ink);
        let (width, height) = ((panel.right - panel.left).max(0.0), (panel.bottom - panel.top).max(0.0));
        self.put(html! {
            rect class=(class) data-finding=[finding] x=(px(panel.left)) y=(px(panel.top)) width=(px(width)) height=(px(height))
                fill=(paint.fill) fill-opacity=[paint.fill_opacity] stroke=[paint.stroke] {}
        });
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), size: f64, ink: Ink, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let colour = self.theme.colour(ink);
        self.put(
            html! { text x=(px(x)) y=(px(y)) font-size=(size) fill=(colour) text-anchor=(anchor) { (text) } },
        );
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) {
        let colour = self.theme.colour(ink);
        self.put(
            html! { line x1=(px(from.0)) y1=(px(from.1)) x2=(px(to.0)) y2=(px(to.1)) stroke=(colour) {} },
        );
    }
}
