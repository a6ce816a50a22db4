//! Runs a script: steps, instead of a clock, say what happens next.
//!
//! A run that the explorer found is kept as a scenario with `steps`: they drive the run through the
//! choices that the world offers, and the clock drives it from then on. Whether an assumption
//! allows a step is not judged here: every enabled step may be taken.

use tanist_core::NodeId;
use tanist_core::trace::TimerName;

use crate::explore::choices::{Choice, What};
use crate::scenario::script::{MessageRef, ScriptStep};
use crate::world::World;
use crate::world::faults::Action;

/// A step that is not enabled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{step}` cannot happen here; this can: {}", list(.enabled))]
pub struct NotEnabled {
    /// The step.
    pub step: ScriptStep,
    /// The steps that are enabled instead.
    pub enabled: Vec<ScriptStep>,
}

impl World {
    /// Prepares the world for a script: the faults of time zero are applied first.
    pub fn begin_script(&mut self) {
        while let Some((_, planned)) = self.planned.pop_if(|(at, _)| at.as_micros() == 0) {
            self.carry_out_fault(planned);
        }
        self.settle();
    }

    /// Runs a step, if it is enabled.
    pub fn run_step(&mut self, step: ScriptStep) -> Result<(), NotEnabled> {
        let is_done = match step {
            ScriptStep::Deliver { message, crash_after } => {
                let number = self.number_of(message);
                number.map(|number| self.take(number, message.to, crash_after))
            }
            ScriptStep::Expire { timer, node, nth, crash_after } => {
                let number = self.timer_of(timer, node, nth);
                number.map(|number| self.take(number, node, crash_after))
            }
            ScriptStep::Lose(message) => {
                self.number_of(message).map(|number| self.lose_message(number))
            }
            ScriptStep::Duplicate(message) => {
                self.number_of(message).map(|number| self.repeat_message(number))
            }
            ScriptStep::Crash(node) => self.is_up(node).then(|| self.impose(Action::Crash(node))),
            ScriptStep::Recover(node) => {
                (!self.is_up(node)).then(|| self.impose(Action::Restart { node, lost_writes: 0 }))
            }
            ScriptStep::Tick => {
                self.tick();
                Some(())
            }
        };
        is_done.ok_or_else(|| NotEnabled { step, enabled: self.enabled_steps() })
    }

    /// A choice as a step of a script.
    #[must_use]
    pub fn as_step(&self, number: u64) -> Option<ScriptStep> {
        let choices = self.choices();
        let choice = choices.iter().find(|choice| choice.number == number)?;
        Some(self.describe(choice, &choices))
    }

    /// How a script names the message of a choice.
    #[must_use]
    pub fn message_ref(&self, number: u64) -> Option<MessageRef> {
        match self.as_step(number)? {
            ScriptStep::Deliver { message, .. } => Some(message),
            ScriptStep::Expire { .. }
            | ScriptStep::Lose(_)
            | ScriptStep::Duplicate(_)
            | ScriptStep::Crash(_)
            | ScriptStep::Recover(_)
            | ScriptStep::Tick => None,
        }
    }

    /// The steps that are enabled; a message that can arrive can also be lost or duplicated.
    #[must_use]
    pub fn enabled_steps(&self) -> Vec<ScriptStep> {
        let choices = self.choices();
        let mut all: Vec<ScriptStep> =
            choices.iter().map(|choice| self.describe(choice, &choices)).collect();
        all.extend(self.observers.global.members.all().iter().map(|member| {
            if self.is_up(member.id) {
                ScriptStep::Crash(member.id)
            } else {
                ScriptStep::Recover(member.id)
            }
        }));
        all.sort_by_cached_key(ScriptStep::to_string);
        all
    }

    fn take(&mut self, number: u64, node: NodeId, crash_after: Option<u32>) {
        if let Some(effects) = crash_after {
            self.act(Action::CrashAfterEffects(node, effects));
        }
        self.choose(number);
    }

    fn describe(&self, choice: &Choice, choices: &[Choice]) -> ScriptStep {
        match choice.what {
            What::Message { from, facts } => {
                let message = MessageRef { kind: facts.kind, from, to: choice.node, nth: 1 };
                let same = fitting(message, choices);
                let nth = 1 + same.iter().filter(|number| **number < choice.number).count();
                ScriptStep::Deliver { message: MessageRef { nth, ..message }, crash_after: None }
            }
            What::Timer(timer) => {
                let (name, node) = (timer.name(), choice.node);
                let nth = 1 + choices.iter().filter(|other| is_before(other, choice)).count();
                ScriptStep::Expire { timer: name, node, nth, crash_after: None }
            }
        }
    }

    fn number_of(&self, message: MessageRef) -> Option<u64> {
        let mut numbers = fitting(message, &self.choices());
        numbers.sort_unstable();
        numbers.get(message.nth.checked_sub(1)?).copied()
    }

    fn timer_of(&self, timer: TimerName, node: NodeId, nth: usize) -> Option<u64> {
        let choices = self.choices();
        let step = ScriptStep::Expire { timer, node, nth, crash_after: None };
        choices
            .iter()
            .find(|choice| self.describe(choice, &choices) == step)
            .map(|found| found.number)
    }
}

/// The numbers of all messages that match.
fn fitting(message: MessageRef, choices: &[Choice]) -> Vec<u64> {
    let fits = |choice: &&Choice| match choice.what {
        What::Message { from, facts } => {
            (facts.kind, from, choice.node) == (message.kind, message.from, message.to)
        }
        What::Timer(_) => false,
    };
    choices.iter().filter(fits).map(|choice| choice.number).collect()
}

/// Whether two choices are timers of one name at one node, and the first one comes first.
fn is_before(one: &Choice, other: &Choice) -> bool {
    match (one.what, other.what) {
        (What::Timer(first), What::Timer(second)) => {
            one.node == other.node && first.name() == second.name() && first < second
        }
        (What::Timer(_) | What::Message { .. }, What::Timer(_) | What::Message { .. }) => false,
    }
}

fn list(steps: &[ScriptStep]) -> String {
    let all: Vec<String> = steps.iter().map(|step| format!("`{step}`")).collect();
    if all.is_empty() { "nothing".to_owned() } else { all.join(", ") }
}
