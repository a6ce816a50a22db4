//! A run that is led by words: what happens next, step after step, instead of what a clock says.
//!
//! This is the form in which a run that an explorer found is kept: a scenario with `steps` is led by
//! them through the choices that the world offers, and by time from then on. Nothing here judges
//! whether a step is one that some assumptions allow: whatever the world offers may be taken.

use tanist_core::NodeId;
use tanist_core::trace::TimerName;

use crate::explore::choices::{Choice, What};
use crate::scenario::script::{Deed, Letter};
use crate::world::World;
use crate::world::faults::Action;

/// A step that the world did not offer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{deed}` cannot happen here; this can: {}", list(.possible))]
pub struct Impossible {
    /// What was to happen.
    pub deed: Deed,
    /// What could have happened.
    pub possible: Vec<Deed>,
}

impl World {
    /// Lets words lead this world from here on: what a scenario does at its very beginning is done.
    pub fn follow_words(&mut self) {
        while let Some((_, action)) = self.planned.pop_if(|(at, _)| at.as_micros() == 0) {
            self.act(action);
        }
        self.settle();
    }

    /// Does what the words say, if it can happen.
    pub fn follow(&mut self, deed: Deed) -> Result<(), Impossible> {
        let is_done = match deed {
            Deed::Deliver { letter, crash_after } => {
                let number = self.number_of(letter);
                number.map(|number| self.take(number, letter.to, crash_after))
            }
            Deed::Expire { timer, node, nth, crash_after } => {
                let number = self.timer_of(timer, node, nth);
                number.map(|number| self.take(number, node, crash_after))
            }
            Deed::Lose(letter) => self.number_of(letter).map(|number| self.lose_message(number)),
            Deed::Duplicate(letter) => {
                self.number_of(letter).map(|number| self.repeat_message(number))
            }
            Deed::Crash(node) => self.is_up(node).then(|| self.impose(Action::Crash(node))),
            Deed::Recover(node) => {
                (!self.is_up(node)).then(|| self.impose(Action::Restart { node, lost_writes: 0 }))
            }
            Deed::Tick => {
                self.tick();
                Some(())
            }
        };
        is_done.ok_or_else(|| Impossible { deed, possible: self.possible() })
    }

    /// A choice in words.
    #[must_use]
    pub fn in_words(&self, number: u64) -> Option<Deed> {
        let choices = self.choices();
        let choice = choices.iter().find(|choice| choice.number == number)?;
        Some(self.tell(choice, &choices))
    }

    /// The message of a choice in words.
    #[must_use]
    pub fn letter(&self, number: u64) -> Option<Letter> {
        match self.in_words(number)? {
            Deed::Deliver { letter, .. } => Some(letter),
            Deed::Expire { .. }
            | Deed::Lose(_)
            | Deed::Duplicate(_)
            | Deed::Crash(_)
            | Deed::Recover(_)
            | Deed::Tick => None,
        }
    }

    /// Everything that can happen next, in words; what can be lost or come twice can also arrive.
    #[must_use]
    pub fn possible(&self) -> Vec<Deed> {
        let choices = self.choices();
        let mut all: Vec<Deed> = choices.iter().map(|choice| self.tell(choice, &choices)).collect();
        all.extend(self.observers.global.members.all().iter().map(|member| {
            if self.is_up(member.id) { Deed::Crash(member.id) } else { Deed::Recover(member.id) }
        }));
        all.sort_by_cached_key(Deed::to_string);
        all
    }

    fn take(&mut self, number: u64, node: NodeId, crash_after: Option<u32>) {
        if let Some(effects) = crash_after {
            self.act(Action::CrashAfterEffects(node, effects));
        }
        self.choose(number);
    }

    fn tell(&self, choice: &Choice, choices: &[Choice]) -> Deed {
        match choice.what {
            What::Message { from, facts } => {
                let letter = Letter { kind: facts.kind, from, to: choice.node, nth: 1 };
                let same = fitting(letter, choices);
                let nth = 1 + same.iter().filter(|number| **number < choice.number).count();
                Deed::Deliver { letter: Letter { nth, ..letter }, crash_after: None }
            }
            What::Timer(timer) => {
                let (name, node) = (timer.name(), choice.node);
                let nth = 1 + choices.iter().filter(|other| is_before(other, choice)).count();
                Deed::Expire { timer: name, node, nth, crash_after: None }
            }
        }
    }

    fn number_of(&self, letter: Letter) -> Option<u64> {
        let mut numbers = fitting(letter, &self.choices());
        numbers.sort_unstable();
        numbers.get(letter.nth.checked_sub(1)?).copied()
    }

    fn timer_of(&self, timer: TimerName, node: NodeId, nth: usize) -> Option<u64> {
        let choices = self.choices();
        let deed = Deed::Expire { timer, node, nth, crash_after: None };
        choices.iter().find(|choice| self.tell(choice, &choices) == deed).map(|found| found.number)
    }
}

/// The numbers of all messages that look like this one.
fn fitting(letter: Letter, choices: &[Choice]) -> Vec<u64> {
    let fits = |choice: &&Choice| match choice.what {
        What::Message { from, facts } => {
            (facts.kind, from, choice.node) == (letter.kind, letter.from, letter.to)
        }
        What::Timer(_) => false,
    };
    choices.iter().filter(fits).map(|choice| choice.number).collect()
}

/// Whether two choices are timers of one name at one node, and this one comes first.
fn is_before(one: &Choice, other: &Choice) -> bool {
    match (one.what, other.what) {
        (What::Timer(first), What::Timer(second)) => {
            one.node == other.node && first.name() == second.name() && first < second
        }
        (What::Timer(_) | What::Message { .. }, What::Timer(_) | What::Message { .. }) => false,
    }
}

fn list(deeds: &[Deed]) -> String {
    let all: Vec<String> = deeds.iter().map(|deed| format!("`{deed}`")).collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}
