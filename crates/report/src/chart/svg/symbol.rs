//! The signs of series: a shape for single measurements and a dash for lines, different for each series.

use std::fmt::Write;

/// Half the width of a sign in a chart of hundreds of measurements, in pixels.
pub(super) const RADIUS: f64 = 2.6;

/// How a series is drawn besides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    shape: Shape,
    /// The `stroke-dasharray` of its lines.
    pub dash: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Disc,
    Triangle,
    Square,
    Cross,
    Diamond,
    Plus,
    TriangleDown,
    Ring,
}

const SYMBOLS: [Symbol; 8] = [
    Symbol { shape: Shape::Disc, dash: "none" },
    Symbol { shape: Shape::Triangle, dash: "7 3" },
    Symbol { shape: Shape::Square, dash: "2 3" },
    Symbol { shape: Shape::Cross, dash: "10 3 2 3" },
    Symbol { shape: Shape::Diamond, dash: "5 2 2 2 2 2" },
    Symbol { shape: Shape::Plus, dash: "12 4" },
    Symbol { shape: Shape::TriangleDown, dash: "4 4" },
    Symbol { shape: Shape::Ring, dash: "1 2" },
];

/// The sign of a series. After the last they begin again with the second, so that none comes with the same colour twice before
/// all pairs are used up.
pub(super) fn symbol(index: usize) -> Symbol {
    SYMBOLS[(index + index / SYMBOLS.len()) % SYMBOLS.len()]
}

impl Symbol {
    /// Whether it is filled or drawn with strokes.
    pub(super) fn is_filled(self) -> bool {
        !matches!(self.shape, Shape::Cross | Shape::Plus | Shape::Ring)
    }

    /// Appends the sign at a place to the data of a path. All are about as large as a disc of that radius.
    pub(super) fn draw(self, path: &mut String, x: f64, y: f64, radius: f64) {
        let r = radius;
        let d = 2.0 * r;
        // A path is text in memory, which cannot fail to be written.
        let _ = match self.shape {
            Shape::Disc | Shape::Ring => {
                write!(
                    path,
                    "M{:.1} {y:.1}a{r:.1} {r:.1} 0 1 0 {d:.1} 0a{r:.1} {r:.1} 0 1 0 -{d:.1} 0z",
                    x - r
                )
            }
            Shape::Triangle => {
                let (w, h) = (r * 1.25, r * 2.1);
                write!(path, "M{:.1} {:.1}l{w:.1} {h:.1}h-{:.1}z", x, y - h * 0.6, 2.0 * w)
            }
            Shape::TriangleDown => {
                let (w, h) = (r * 1.25, r * 2.1);
                write!(path, "M{:.1} {:.1}l{w:.1} -{h:.1}h-{:.1}z", x, y + h * 0.6, 2.0 * w)
            }
            Shape::Square => {
                let s = r * 1.8;
                write!(path, "M{:.1} {:.1}h{s:.1}v{s:.1}h-{s:.1}z", x - s / 2.0, y - s / 2.0)
            }
            Shape::Diamond => {
                let s = r * 1.35;
                write!(path, "M{x:.1} {:.1}l{s:.1} {s:.1}l-{s:.1} {s:.1}l-{s:.1} -{s:.1}z", y - s)
            }
            Shape::Cross => {
                write!(path, "M{:.1} {:.1}l{d:.1} {d:.1}m-{d:.1} 0l{d:.1} -{d:.1}", x - r, y - r)
            }
            Shape::Plus => {
                let (s, w) = (r * 1.25, r * 2.5);
                write!(path, "M{:.1} {y:.1}h{w:.1}M{x:.1} {:.1}v{w:.1}", x - s, y - s)
            }
        };
    }
}
