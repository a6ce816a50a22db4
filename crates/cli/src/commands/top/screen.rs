//! The terminal, borrowed: another screen, every key at once, no cursor.
//!
//! It is given back when the screen is dropped, and before a panic is told, so that the message is
//! not lost with the other screen.

use std::io::{self, Write};
use std::panic;
use std::sync::Mutex;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetwinsize, tcsetattr};

use super::view::{Line, Look};

/// A terminal that is drawn on.
pub(super) struct Screen {
    _private: (),
}

/// Columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Screen {
    /// Borrows it.
    pub(super) fn enter() -> io::Result<Self> {
        let before = tcgetattr(io::stdin())?;
        let mut raw = before.clone();
        raw.make_raw();
        if let Ok(mut kept) = BEFORE.lock() {
            *kept = Some(before);
        }
        let screen = Self { _private: () };
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            leave();
            tell(info);
        }));
        put(ENTER)?;
        Ok(screen)
    }

    /// How much room there is.
    pub(super) fn size(&self) -> Size {
        let size =
            tcgetwinsize(io::stdout()).ok().filter(|size| size.ws_col > 0 && size.ws_row > 0);
        let [columns, rows] = size.map_or([80, 24], |size| [size.ws_col, size.ws_row]);
        Size { columns: usize::from(columns), rows: usize::from(rows) }
    }

    /// Draws all lines, and nothing else. What was there is drawn over and not wiped first, so that
    /// nothing flickers.
    pub(super) fn draw(&mut self, lines: &[Line]) -> io::Result<()> {
        let Size { columns, rows } = self.size();
        let mut text = String::from(HOME);
        for (row, line) in lines.iter().take(rows).enumerate() {
            if row > 0 {
                text.push_str("\r\n");
            }
            let words: String = line.text.chars().take(columns).collect();
            match line.look {
                Look::Plain => text.push_str(&words),
                Look::Loud => text.extend([REVERSE, &words, RESET]),
            }
            text.push_str(CLEAR_LINE);
        }
        text.push_str(CLEAR_REST);
        put(&text)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back, once.
fn leave() {
    let before = BEFORE.lock().ok().and_then(|mut before| before.take());
    if let Some(before) = before {
        // If the terminal is gone there is nothing to give back.
        let _ = put(LEAVE);
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

fn put(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// How the terminal was, while it is borrowed.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
const LEAVE: &str = "\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l";
const HOME: &str = "\u{1b}[H";
const CLEAR_LINE: &str = "\u{1b}[K";
const CLEAR_REST: &str = "\u{1b}[J";
const REVERSE: &str = "\u{1b}[7m";
const RESET: &str = "\u{1b}[0m";
