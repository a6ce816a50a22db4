//! A bar on stderr while something takes long; nothing if stderr is not a terminal.

use std::{env, fmt};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

/// A bar for this many steps. It disappears when it is done.
pub(crate) fn bar(steps: u64, title: &str) -> ProgressBar {
    // Hides itself where stderr is not a terminal; a dumb one cannot go back in its line.
    let is_dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
    let target = if is_dumb { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(Some(steps), target).with_prefix(title.to_owned());
    // A template that cannot be read leaves the plain bar.
    match ProgressStyle::with_template(TEMPLATE) {
        Ok(style) => bar.with_style(style.with_key("rate", rate)),
        Err(_) => bar,
    }
}

/// A line that tells how far something of unknown length has come.
pub(crate) fn spinner(title: &str) -> ProgressBar {
    let bar = bar(0, title);
    match ProgressStyle::with_template("{prefix:<16} {spinner} {msg}") {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

fn rate(state: &ProgressState, to: &mut dyn fmt::Write) {
    // A bar that cannot be written to is not seen either.
    let _ = write!(to, "{:.0}/s", state.per_sec());
}

const TEMPLATE: &str = "{prefix:<16} {bar:30} {human_pos}/{human_len} {rate} {msg}";
