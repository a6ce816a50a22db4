//! A step of a script: its text form, read and written.
//!
//! A step names a message or timer by what a reader of the trace knows of it, never by an internal
//! number.

use std::fmt::{self, Write};
use std::str::FromStr;

use tanist_core::trace::{Kind, TimerName};
use tanist_core::{Membership, NodeId};

use super::Scenario;
use super::parse::{Reader, ScenarioError, Text};
use super::unknown::unknown;

/// One step of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScriptStep {
    /// A message arrives.
    Deliver {
        /// Which.
        message: MessageRef,
        /// The receiver crashes after this many effects of the step.
        crash_after: Option<u32>,
    },
    /// A timer expires.
    Expire {
        /// The timer's name.
        timer: TimerName,
        /// At which node.
        node: NodeId,
        /// Which of several timers of that name, in order of the peers that they wait for.
        nth: usize,
        /// The node crashes after this many effects of the step.
        crash_after: Option<u32>,
    },
    /// A message is lost.
    Lose(MessageRef),
    /// A message arrives, and a copy of it remains in flight.
    Duplicate(MessageRef),
    /// A node crashes.
    Crash(NodeId),
    /// A node restarts with its disk.
    Recover(NodeId),
    /// Time passes: the maximum delay of a message.
    Tick,
}

/// A message in flight, as a script names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRef {
    /// Its kind.
    pub kind: Kind,
    /// Its sender.
    pub from: NodeId,
    /// Its receiver.
    pub to: NodeId,
    /// Which of several such messages in flight, in order of sending.
    pub nth: usize,
}

impl fmt::Display for ScriptStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deliver { message, crash_after } => {
                write!(f, "deliver {message}{}", CrashAfter(*crash_after))
            }
            Self::Expire { timer, node, nth, crash_after } => {
                write!(
                    f,
                    "timer {}{timer} at {}{}",
                    Ordinal(*nth),
                    node.0,
                    CrashAfter(*crash_after)
                )
            }
            Self::Lose(message) => write!(f, "lose {message}"),
            Self::Duplicate(message) => write!(f, "duplicate {message}"),
            Self::Crash(node) => write!(f, "crash {}", node.0),
            Self::Recover(node) => write!(f, "recover {}", node.0),
            Self::Tick => f.write_str("tick"),
        }
    }
}

impl fmt::Display for MessageRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, from, to, nth } = self;
        write!(f, "{}{kind} from {} to {}", Ordinal(*nth), from.0, to.0)
    }
}

/// Which of several; the first is not mentioned.
struct Ordinal(usize);

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ending = match (self.0 % 10, self.0 % 100) {
            (_, 11..=13) => "th",
            (1, _) => "st",
            (2, _) => "nd",
            (3, _) => "rd",
            (_, _) => "th",
        };
        if self.0 == 1 { Ok(()) } else { write!(f, "the {}{ending} ", self.0) }
    }
}

struct CrashAfter(Option<u32>);

impl fmt::Display for CrashAfter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            None => Ok(()),
            Some(1) => f.write_str(" and crash after 1 effect"),
            Some(effects) => write!(f, " and crash after {effects} effects"),
        }
    }
}

/// Why a text is not a step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptStepError {
    /// No step has this form.
    #[error(
        "{0:?} is not a step; expected one of `deliver KIND from A to B`, `lose KIND from A to B`, \
         `duplicate KIND from A to B`, `timer NAME at A`, `crash A`, `recover A`, `tick`; \
         the first two words of a step that takes something may be followed by `the 2nd`, and \
         `deliver` and `timer` may end with `and crash after N effects`"
    )]
    Form(String),
    /// No message has this name.
    #[error("{}", unknown("message", .0, Kind::ALL.iter().map(|kind| kind.name())))]
    Kind(String),
    /// No timer has this name.
    #[error("{}", unknown("timer", .0, TimerName::ALL.iter().map(|timer| timer.name())))]
    Timer(String),
}

impl FromStr for ScriptStep {
    type Err = ScriptStepError;

    fn from_str(text: &str) -> Result<Self, ScriptStepError> {
        let none = || ScriptStepError::Form(text.to_owned());
        let mut words: Vec<&str> = text.split_whitespace().collect();
        let crash_after = match words.as_slice() {
            [.., "and", "crash", "after", count, "effect" | "effects"] => {
                let count = count.parse().ok().filter(|count| *count > 0).ok_or_else(none)?;
                words.truncate(words.len() - 5);
                Some(count)
            }
            _ => None,
        };
        let nth = match words.as_slice() {
            [_, "the", ordinal, ..] => {
                let digits = ordinal.trim_end_matches(char::is_alphabetic);
                let nth = digits.parse().ok().filter(|nth| *nth > 0).ok_or_else(none)?;
                words.drain(1..3);
                nth
            }
            _ => 1,
        };
        let node = |word: &str| word.parse().map(NodeId).map_err(|_| none());
        let message = |kind: &str, from: &str, to: &str| {
            Ok(MessageRef { kind: kind_of(kind)?, from: node(from)?, to: node(to)?, nth })
        };
        match (words.as_slice(), crash_after, nth) {
            (["deliver", kind, "from", from, "to", to], _, _) => {
                Ok(Self::Deliver { message: message(kind, from, to)?, crash_after })
            }
            (["timer", name, "at", at], _, _) => {
                let timer = TimerName::ALL.iter().copied().find(|timer| timer.name() == *name);
                let timer = timer.ok_or_else(|| ScriptStepError::Timer((*name).to_owned()))?;
                Ok(Self::Expire { timer, node: node(at)?, nth, crash_after })
            }
            (["lose", kind, "from", from, "to", to], None, _) => {
                Ok(Self::Lose(message(kind, from, to)?))
            }
            (["duplicate", kind, "from", from, "to", to], None, _) => {
                Ok(Self::Duplicate(message(kind, from, to)?))
            }
            (["crash", id], None, 1) => Ok(Self::Crash(node(id)?)),
            (["recover", id], None, 1) => Ok(Self::Recover(node(id)?)),
            (["tick"], None, 1) => Ok(Self::Tick),
            _ => Err(none()),
        }
    }
}

fn kind_of(name: &str) -> Result<Kind, ScriptStepError> {
    let found = Kind::ALL.iter().copied().find(|kind| kind.name() == name);
    found.ok_or_else(|| ScriptStepError::Kind(name.to_owned()))
}

impl ScriptStep {
    /// The same step, after so many effects of which the node crashes.
    #[must_use]
    pub const fn with_crash_after(self, effects: u32) -> Self {
        match self {
            Self::Deliver { message, crash_after: _ } => {
                Self::Deliver { message, crash_after: Some(effects) }
            }
            Self::Expire { timer, node, nth, crash_after: _ } => {
                Self::Expire { timer, node, nth, crash_after: Some(effects) }
            }
            Self::Lose(_) | Self::Duplicate(_) | Self::Crash(_) | Self::Recover(_) | Self::Tick => {
                self
            }
        }
    }

    /// The kind of its message, if it takes one.
    #[must_use]
    pub const fn kind(self) -> Option<Kind> {
        match self {
            Self::Deliver { message, .. } | Self::Lose(message) | Self::Duplicate(message) => {
                Some(message.kind)
            }
            Self::Expire { .. } | Self::Crash(_) | Self::Recover(_) | Self::Tick => None,
        }
    }

    /// The node that it crashes, if any.
    #[must_use]
    pub const fn crashed(self) -> Option<NodeId> {
        match self {
            Self::Deliver { message, crash_after: Some(_) } => Some(message.to),
            Self::Expire { node, crash_after: Some(_), .. } | Self::Crash(node) => Some(node),
            Self::Deliver { crash_after: None, .. }
            | Self::Expire { crash_after: None, .. }
            | Self::Lose(_)
            | Self::Duplicate(_)
            | Self::Recover(_)
            | Self::Tick => None,
        }
    }

    /// The nodes that it names.
    pub fn nodes(self) -> impl Iterator<Item = NodeId> {
        let (one, other) = match self {
            Self::Deliver { message, .. } | Self::Lose(message) | Self::Duplicate(message) => {
                (Some(message.from), Some(message.to))
            }
            Self::Expire { node, .. } | Self::Crash(node) | Self::Recover(node) => {
                (Some(node), None)
            }
            Self::Tick => (None, None),
        };
        one.into_iter().chain(other)
    }
}

impl Reader<'_> {
    pub(super) fn steps(
        &self,
        lines: &[Text],
        members: &Membership,
    ) -> Result<Vec<ScriptStep>, ScenarioError> {
        let read = |line: &Text| {
            let step: ScriptStep = line
                .as_ref()
                .parse()
                .map_err(|error: ScriptStepError| self.error(&line.span(), error.to_string()))?;
            for node in step.nodes() {
                self.known(node.0, members, &line.span())?;
            }
            Ok(step)
        };
        lines.iter().map(read).collect()
    }
}

impl Scenario {
    pub(super) fn write_steps(&self, to: &mut String) -> fmt::Result {
        if !self.steps.is_empty() {
            writeln!(to, "steps = [")?;
            for step in &self.steps {
                writeln!(to, "  \"{step}\",")?;
            }
            writeln!(to, "]")?;
        }
        Ok(())
    }
}
