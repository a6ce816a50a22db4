//! What is on the screen, as lines.

use std::time::Instant;

use super::feed::Snapshot;
use super::screen::Size;
use crate::commands::query::{alarms, history, members};
use crate::terminal::moment;
use crate::terminal::output::plain;

/// What was seen last, and how it is shown.
#[derive(Default)]
pub(super) struct View {
    /// What is shown, and since when.
    shown: Option<(Box<Snapshot>, Instant)>,
    /// Why nothing newer is shown.
    problem: Option<String>,
    is_paused: bool,
    is_wide: bool,
    is_helping: bool,
}

/// A line on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) text: String,
    pub(super) look: Look,
}

/// How it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    Plain,
    /// It must not be overlooked.
    Loud,
}

impl View {
    /// Takes what the agent said; not while the view is paused.
    pub(super) fn see(&mut self, seen: Result<Box<Snapshot>, String>) {
        if self.is_paused {
            return;
        }
        match seen {
            Ok(snapshot) => {
                self.shown = Some((snapshot, Instant::now()));
                self.problem = None;
            }
            Err(problem) => self.problem = Some(problem),
        }
    }

    /// A key that is not for quitting.
    pub(super) fn press(&mut self, key: u8) {
        match key {
            b'p' | b' ' => self.is_paused = !self.is_paused,
            b'w' => self.is_wide = !self.is_wide,
            b'?' | b'h' => self.is_helping = !self.is_helping,
            // Escape closes what is open.
            27 => self.is_helping = false,
            _ => {}
        }
    }

    /// Everything, as far as there is room.
    pub(super) fn lines(&self, size: Size) -> Vec<Line> {
        let mut lines = self.head();
        if self.is_helping {
            lines.extend(HELP.lines().map(Line::plain));
        } else if let Some((seen, _)) = &self.shown {
            let text = members::text(&seen.members, self.is_wide);
            // Alarms are in the head already.
            let alarms = alarms(&seen.members.status).len();
            lines.extend(text.lines().skip(alarms).map(Line::plain));
            lines.push(Line::plain(""));
            let changes = history::text(&seen.history, self.is_wide);
            let mut changes = changes.lines();
            lines.extend(changes.next().map(Line::plain));
            let changes: Vec<&str> = changes.collect();
            let room = size.rows.saturating_sub(lines.len() + 1);
            // The newest matter most.
            let newest = &changes[changes.len().saturating_sub(room)..];
            lines.extend(newest.iter().map(|line| Line::plain(line)));
        }
        lines.truncate(size.rows.saturating_sub(1));
        lines.push(Line::plain("q quit   p pause   w wide   ? help"));
        lines
    }

    fn head(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        if self.is_paused {
            let since = self.shown.as_ref().map(|(_, at)| moment::span(at.elapsed()));
            let since = since.unwrap_or_default();
            let what = format!("VIEW PAUSED: this is how it was {since} ago. p goes on");
            lines.push(Line::loud(&what));
        }
        if let Some(problem) = &self.problem {
            lines.push(Line::loud(problem));
            if let Some((_, at)) = &self.shown {
                let ago = moment::span(at.elapsed());
                lines.push(Line::loud(&format!("What is below is {ago} old")));
            }
        }
        match &self.shown {
            Some((seen, _)) => {
                lines.extend(alarms(&seen.members.status).iter().map(|alarm| Line::loud(alarm)));
            }
            None => lines.push(Line::plain("asking the agent ...")),
        }
        lines
    }
}

impl Line {
    fn plain(text: &str) -> Self {
        Self { text: plain(text), look: Look::Plain }
    }

    fn loud(text: &str) -> Self {
        Self { text: plain(text), look: Look::Loud }
    }
}

const HELP: &str = "
  q, Ctrl-C   quit
  p, space    pause the view: nothing on the screen changes, the group goes on
  w           show more columns, or fewer
  ?, h        this help

  The upper table is what the asked node knows of all nodes, the lower what it was, newest last.
  It is asked on every change of its role and every second.
  To change something: tanist step-down, pause, resume, priority, leave.
  To see why something changed: tanist why
";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ROOM: Size = Size { columns: 100, rows: 24 };

    fn snapshot(is_paused: bool) -> Box<Snapshot> {
        let members = json!({
            "status": {
                "group": "billing", "node": "n1", "algorithm": "bully", "role": "leader",
                "state": "normal", "active": true, "paused": is_paused, "withdrawn": false,
                "group_number": "4.n1",
                "leader": { "node": "n1", "address": "127.0.0.1:7400" }, "members": ["n1"],
                "peers_version": 1, "since_ms": 0, "index": 40, "incarnation": 1,
            },
            "members": [{
                "node": "n1", "address": "127.0.0.1:7400", "role": "leader", "is_self": true,
                "is_connected": false, "is_refused": false, "priority": 1, "rtt_ms": null,
                "seen_ms": null,
            }],
        });
        let change = |index: u64| {
            json!({
                "index": index, "at_us": 0, "when_ms": 0, "node": "n1", "role": "leader",
                "group_number": format!("{index}.n1"), "coordinator": "n1", "members": ["n1"],
                "text": "",
            })
        };
        let history: Vec<_> = (0..40).map(change).collect();
        Box::new(Snapshot {
            members: serde_json::from_value(members).unwrap(),
            history: serde_json::from_value(json!(history)).unwrap(),
        })
    }

    fn text(view: &View, room: Size) -> String {
        let lines = view.lines(room);
        assert!(lines.len() <= room.rows, "{lines:?}");
        lines.iter().map(|line| format!("{}\n", line.text)).collect()
    }

    #[test]
    fn the_newest_changes_are_shown_in_whatever_room_there_is() {
        let mut view = View::default();
        assert!(text(&view, ROOM).contains("asking"));
        view.see(Ok(snapshot(false)));
        let all = text(&view, ROOM);
        assert!(all.contains("★ leader") && all.contains("39.n1"), "{all}");
        assert!(!all.contains(" 0.n1"), "{all}");
        assert_eq!(view.lines(Size { columns: 20, rows: 1 }).len(), 1);
        assert_eq!(view.lines(Size { columns: 20, rows: 5 }).len(), 5);
    }

    #[test]
    fn a_paused_view_stays_as_it_is_and_says_so() {
        let mut view = View::default();
        view.see(Ok(snapshot(false)));
        view.press(b'p');
        view.see(Err("gone".to_owned()));
        let first = &view.lines(ROOM)[0];
        assert!(first.text.contains("VIEW PAUSED") && first.look == Look::Loud, "{first:?}");
        assert!(!text(&view, ROOM).contains("gone"));
        view.press(b'p');
        view.see(Err("gone".to_owned()));
        assert!(text(&view, ROOM).contains("gone"));
    }

    #[test]
    fn a_paused_group_is_loud() {
        let mut view = View::default();
        view.see(Ok(snapshot(true)));
        let lines = view.lines(ROOM);
        assert!(lines[0].text.starts_with("PAUSED") && lines[0].look == Look::Loud);
        assert_eq!(lines.iter().filter(|line| line.text.contains("PAUSED")).count(), 1);
    }
}
