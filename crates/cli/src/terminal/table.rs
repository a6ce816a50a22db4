//! Text in columns, 100 wide, without trailing spaces.
//!
//! A last column of words is wrapped and goes on below itself.

use std::fmt;

use crate::terminal::output::plain;

/// Rows under headers.
pub(crate) struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<String>>,
    indent: usize,
}

/// A header, and to which side the cells below it go.
pub(crate) struct Column {
    header: &'static str,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A column of words.
pub(crate) const fn left(header: &'static str) -> Column {
    Column { header, side: Side::Left }
}

/// A column of numbers.
pub(crate) const fn right(header: &'static str) -> Column {
    Column { header, side: Side::Right }
}

impl Table {
    /// A table without rows.
    pub(crate) fn new(columns: impl Into<Vec<Column>>) -> Self {
        Self { columns: columns.into(), rows: Vec::new(), indent: 0 }
    }

    /// A list of names and what there is to say of them, without headers.
    pub(crate) fn list(indent: usize) -> Self {
        Self { columns: vec![left(""), left("")], rows: Vec::new(), indent }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells: Vec<String> = cells.into_iter().map(|cell| plain(&cell)).collect();
        assert_eq!(cells.len(), self.columns.len(), "a row has one cell per column: {cells:?}");
        self.rows.push(cells);
    }

    fn widths(&self) -> Vec<usize> {
        let width = |at: usize, column: &Column| {
            let cells = self.rows.iter().map(|row| row[at].chars().count());
            cells.chain([column.header.chars().count()]).max().unwrap_or(0)
        };
        self.columns.iter().enumerate().map(|(at, column)| width(at, column)).collect()
    }

    fn line(&self, cells: &[&str], widths: &[usize]) -> String {
        let mut line = " ".repeat(self.indent);
        let last = cells.len().saturating_sub(1);
        for (at, (cell, column)) in cells.iter().zip(&self.columns).enumerate() {
            let gap = " ".repeat(widths[at].saturating_sub(cell.chars().count()));
            match column.side {
                Side::Right => line.extend([gap.as_str(), cell]),
                Side::Left if at == last => {
                    let start = line.chars().count();
                    line.push_str(&wrapped(cell, start));
                }
                Side::Left => line.extend([*cell, gap.as_str()]),
            }
            line.push_str("  ");
        }
        line.truncate(line.trim_end().len());
        line
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        let headers: Vec<&str> = self.columns.iter().map(|column| column.header).collect();
        if headers.iter().any(|header| !header.is_empty()) {
            writeln!(f, "{}", self.line(&headers, &widths))?;
        }
        for row in &self.rows {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            writeln!(f, "{}", self.line(&cells, &widths))?;
        }
        Ok(())
    }
}

/// Words in lines that begin at column `start`, the first without its indent.
fn wrapped(text: &str, start: usize) -> String {
    let mut lines = String::new();
    let mut column = start;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        let is_first = column == start;
        if !is_first && column + 1 + length > COLUMNS {
            lines.push('\n');
            lines.push_str(&" ".repeat(start));
            column = start;
        } else if !is_first {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length;
    }
    lines
}

const COLUMNS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_go_to_their_sides_and_lines_end_in_words() {
        let mut table = Table::new([left("KIND"), right("SENT"), left("WHY")]);
        table.row(["AreYouUp".to_owned(), "3".to_owned(), String::new()]);
        table.row(["x".to_owned(), "12345".to_owned(), "so".to_owned()]);
        assert_eq!(
            table.to_string(),
            "KIND       SENT  WHY\nAreYouUp      3\nx         12345  so\n"
        );
    }

    #[test]
    fn a_long_last_cell_goes_on_below_itself() {
        let mut table = Table::list(2);
        table.row(["name".to_owned(), "word ".repeat(40)]);
        let text = table.to_string();
        assert!(text.lines().count() > 1);
        assert!(text.lines().all(|line| line.chars().count() <= COLUMNS && !line.ends_with(' ')));
        assert!(text.lines().skip(1).all(|line| line.starts_with("        word")));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut table = Table::list(0);
        table.row(["a".to_owned(), "\u{1b}[31m\nb".to_owned()]);
        assert_eq!(table.to_string(), "a  \u{fffd}[31m\u{fffd}b\n");
    }
}
