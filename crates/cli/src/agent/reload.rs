//! Reading the configuration again while the node runs.
//!
//! Either all of it is sound and every change that can count at once does, or nothing changes. What
//! needs a new start keeps its old value, and is named.

use std::sync::Arc;

use super::Agent;
use super::action::{ActionError, Done};
use crate::config::{Change, Config, Effect};
use crate::log;

impl Agent {
    /// Reads it again, from where it was read at the start.
    pub(super) async fn reload(&self) -> Result<Done, ActionError> {
        let old = self.config();
        let refuse = |what: String| ActionError::Refused(format!("nothing was changed. {what}"));
        let new =
            Config::load(&self.inner.sources).map_err(|problem| refuse(problem.to_string()))?;
        let changes = new.changes_against(&old);
        let (live, waiting): (Vec<Change>, Vec<Change>) =
            changes.into_iter().partition(|change| change.effect == Effect::Live);
        let next = old.with_live_values_of(&new);
        if next.priority != old.priority {
            // First, since it is the only change that can be refused.
            let priority = next.priority_of(self.group().me());
            self.group().set_priority(priority).await?;
        }
        log::set_level(new.log.level);
        // Also if nothing in it changed: what a file that it names holds may have.
        self.inner.config.send_replace(Arc::new(next));
        Ok(Done { text: told(&live, &waiting) })
    }
}

fn told(live: &[Change], waiting: &[Change]) -> String {
    let list = |changes: &[Change]| {
        let texts: Vec<String> = changes.iter().map(Change::to_string).collect();
        texts.join("; ")
    };
    match (live.is_empty(), waiting.is_empty()) {
        (true, true) => "nothing has changed".to_owned(),
        (false, true) => format!("changed: {}", list(live)),
        (true, false) => format!("changes only with a new start: {}", list(waiting)),
        (false, false) => {
            format!("changed: {}. Only with a new start: {}", list(live), list(waiting))
        }
    }
}
