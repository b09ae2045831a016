//! The plot area of a chart in a terminal: cells that hold dots of braille, or one sign each.

/// Bits of a braille cell, by row and column. Unicode chapter 21.1: the dots are numbered down the left column,
/// then down the right, with the lowest row added last.
const BRAILLE_BITS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Dots for a single series: braille cells of 2 × 4 dots, or ASCII cells of one.
pub(super) struct DotGrid {
    columns: usize,
    row_count: usize,
    dots_across: usize,
    dots_down: usize,
    /// One byte a cell, a bit for each dot in the order of the braille block of Unicode.
    cells: Vec<u8>,
}

impl DotGrid {
    pub(super) fn new(columns: usize, unicode: bool) -> DotGrid {
        DotGrid::of_rows(columns, if unicode { 8 } else { 12 }, unicode)
    }

    pub(super) fn of_rows(columns: usize, row_count: usize, unicode: bool) -> DotGrid {
        let (dots_across, dots_down) = if unicode { (2, 4) } else { (1, 1) };
        DotGrid { columns, row_count, dots_across, dots_down, cells: vec![0; columns * row_count] }
    }

    /// A level line over shares of the width, at a share of the height. In braille it is two dots thick, since one
    /// is hard to see, and a stretch narrower than a cell fills the cell's width.
    pub(super) fn stroke(&mut self, first: f64, end: f64, height: f64) {
        let (across, down) = (self.columns * self.dots_across, self.row_count * self.dots_down);
        let from = ((first * across as f64) as usize).min(across - 1);
        let from = from / self.dots_across * self.dots_across;
        let to = ((end * across as f64).ceil() as usize).clamp(from + self.dots_across, across);
        let top = self.dot_of(height);
        for y in top..(top + self.dots_across).min(down) {
            for x in from..to {
                self.set(x, y);
            }
        }
    }

    /// The same, one dot thick and no wider than it is.
    pub(super) fn line(&mut self, first: f64, end: f64, height: f64) {
        let across = self.columns * self.dots_across;
        let from = ((first * across as f64) as usize).min(across - 1);
        let to = ((end * across as f64).ceil() as usize).clamp(from + 1, across);
        let y = self.dot_of(height);
        for x in from..to {
            self.set(x, y);
        }
    }

    /// Lines from each place to the next: shares of the width and of the height.
    pub(super) fn polyline(&mut self, places: impl Iterator<Item = (f64, f64)>) {
        let across = self.columns * self.dots_across;
        let mut before: Option<(usize, usize)> = None;
        for (at, height) in places {
            let place = (((at * across as f64) as usize).min(across - 1), self.dot_of(height));
            let (from, to) = (before.unwrap_or(place), place);
            let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
            for step in 0..=steps {
                let share = (step, steps);
                self.set(between(from.0, to.0, share), between(from.1, to.1, share));
            }
            before = Some(place);
        }
    }

    fn set(&mut self, x: usize, y: usize) {
        let cell = y / self.dots_down * self.columns + x / self.dots_across;
        self.cells[cell] |= BRAILLE_BITS[y % self.dots_down][x % self.dots_across];
    }

    /// The line of dots, counted from the top, at a share of the height.
    fn dot_of(&self, height: f64) -> usize {
        let lowest = self.row_count * self.dots_down - 1;
        lowest - (height.clamp(0.0, 1.0) * lowest as f64).round() as usize
    }

    pub(super) fn signs(&self) -> SignGrid {
        let is_braille = self.dots_across == 2;
        let mut cells = Vec::new();
        for bits in &self.cells {
            cells.push(match (bits, is_braille) {
                (0, _) => ' ',
                (_, false) => '*',
                (bits, true) => char::from_u32(0x2800 + u32::from(*bits)).unwrap_or(' '),
            });
        }
        SignGrid { columns: self.columns, row_count: self.row_count, cells }
    }
}

fn between(from: usize, to: usize, (step, steps): (usize, usize)) -> usize {
    (from as f64 + (to as f64 - from as f64) * step as f64 / steps as f64).round() as usize
}

pub(super) struct SignGrid {
    columns: usize,
    row_count: usize,
    cells: Vec<char>,
}

impl SignGrid {
    pub(super) fn new(columns: usize, row_count: usize) -> SignGrid {
        SignGrid { columns, row_count, cells: vec![' '; columns * row_count] }
    }

    /// A sign over shares of the width, at a share of the height. Where another sign is already, `shared` takes its place.
    pub(super) fn stroke(&mut self, first: f64, end: f64, height: f64, sign: char, shared: char) {
        let row = self.row_of(height);
        for column in self.columns_over(first, end) {
            let cell = &mut self.cells[row * self.columns + column];
            *cell = if *cell == ' ' || *cell == sign { sign } else { shared };
        }
    }

    /// A sign at a point, in the place of what is drawn there: a curve of dots has them in the row that the height lies in.
    pub(super) fn point(&mut self, at: f64, height: f64, sign: char) {
        let from_top = (1.0 - height.clamp(0.0, 1.0)) * self.row_count as f64;
        let row_of_dots = (from_top as usize).min(self.row_count - 1);
        let column = self.columns_over(at, at).start;
        let is_drawn = self.cells[row_of_dots * self.columns + column] != ' ';
        let row = if is_drawn { row_of_dots } else { self.row_of(height) };
        self.cells[row * self.columns + column] = sign;
    }

    pub(super) fn line_up(&mut self, at: f64, sign: char) {
        let column = ((at * self.columns as f64) as usize).min(self.columns - 1);
        let is_full = (0..self.row_count).all(|row| self.cells[row * self.columns + column] != ' ');
        for row in 0..self.row_count {
            self.put_behind(row, column, sign);
        }
        // A curve that drops here leaves no cell blank, and the legend names the line.
        if is_full {
            self.cells[column] = sign;
        }
    }

    pub(super) fn line_across(&mut self, height: f64, sign: char) {
        let row = self.row_of(height);
        for column in 0..self.columns {
            self.put_behind(row, column, sign);
        }
    }

    fn put_behind(&mut self, row: usize, column: usize, sign: char) {
        let cell = &mut self.cells[row * self.columns + column];
        if *cell == ' ' {
            *cell = sign;
        }
    }

    /// The columns that shares of the width touch, at least one.
    pub(super) fn columns_over(&self, first: f64, end: f64) -> std::ops::Range<usize> {
        let from = ((first * self.columns as f64) as usize).min(self.columns - 1);
        from..((end * self.columns as f64).ceil() as usize).clamp(from + 1, self.columns)
    }

    /// The row, counted from the top, whose upper edge is nearest below a share of the height. The axis under the lowest row is at 0.
    pub(super) fn row_of(&self, height: f64) -> usize {
        let from_top = (1.0 - height.clamp(0.0, 1.0)) * self.row_count as f64;
        (from_top.round() as usize).min(self.row_count - 1)
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = String> {
        self.cells.chunks(self.columns).map(|row| row.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(grid: &SignGrid) -> Vec<String> {
        grid.rows().collect()
    }

    #[test]
    fn a_dot_lands_where_it_belongs() {
        let mut grid = DotGrid::new(4, false);
        grid.stroke(0.5, 0.5, 1.0);
        grid.stroke(0.0, 0.25, 0.0);
        grid.stroke(1.0, 1.0, 7.0);
        let lines = rows(&grid.signs());
        assert_eq!((lines[0].as_str(), lines[11].as_str()), ("  **", "*   "));
        let mut grid = DotGrid::new(2, true);
        grid.stroke(0.0, 1.0, 1.0);
        assert_eq!(rows(&grid.signs())[0], "⠛⠛");
        let mut grid = DotGrid::new(2, true);
        grid.line(0.25, 0.25, 1.0);
        grid.line(0.5, 1.0, 0.0);
        assert_eq!((rows(&grid.signs())[0].as_str(), rows(&grid.signs())[7].as_str()), ("⠈ ", " ⣀"));
    }

    #[test]
    fn a_point_stands_on_its_curve() {
        let mut dots = DotGrid::of_rows(3, 8, true);
        dots.polyline([(0.0, 0.39), (1.0, 0.39)].into_iter());
        let mut grid = dots.signs();
        grid.point(0.4, 0.39, 'o');
        let drawn: Vec<String> = rows(&grid).into_iter().filter(|row| row.trim() != "").collect();
        assert_eq!(drawn.len(), 1, "{drawn:?}");
        assert!(drawn[0].contains('o'));
    }

    #[test]
    fn two_signs_in_a_cell_are_seen_as_two() {
        let mut grid = SignGrid::new(4, 3);
        grid.stroke(0.0, 0.5, 0.0, 'o', '#');
        grid.stroke(0.25, 0.75, 0.0, '+', '#');
        grid.line_up(0.5, ':');
        grid.line_across(1.0, '-');
        assert_eq!(rows(&grid), ["--:-", "  : ", "o#+ "]);
    }
}
