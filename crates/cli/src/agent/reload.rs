//! Reading the configuration again while the node runs.
//!
//! Either all of it is sound and every change that can count at once does, or nothing changes. What
//! needs a new start keeps its old value, and is named. The files with keys are read again as well,
//! whether or not they have the same names.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};
use tokio::time::timeout;

use super::Agent;
use super::action::{ActionError, Done};
use crate::config::{Change, Config, Effect, Finding, Secrets, Sources};
use crate::terminal::log;

impl Agent {
    /// Reads it again, from where it was read at the start.
    pub(super) async fn reload(&self) -> Result<Done, ActionError> {
        let old = self.config();
        let refuse = |what: String| ActionError::Refused(format!("nothing was changed. {what}"));
        let Sound { config: new, secrets: read, warnings } =
            read(self.inner.sources.clone()).await.map_err(refuse)?;
        let renewal = self.renew_secrets(read).map_err(refuse)?;
        let changes = new.changes_against(&old);
        let (live, waiting): (Vec<Change>, Vec<Change>) =
            changes.into_iter().partition(|change| change.effect == Effect::Live);
        let next = old.with_live_values_of(&new);
        if next.priority != old.priority {
            // First, since it is the only change that can be refused.
            let priority = next.priority_of(self.group().me());
            self.group().set_priority(priority).await?;
        }
        let mut changed: Vec<String> = live.iter().map(Change::to_string).collect();
        let mut waits: Vec<String> = waiting.iter().map(Change::to_string).collect();
        if next.radio.is_some() {
            // Packets go on with the keys of the start.
            waits.extend(renewal.changes);
        } else {
            changed.extend(renewal.changes.iter().cloned());
            self.use_secrets(renewal);
        }
        for warning in &warnings {
            tracing::warn!("{warning}");
        }
        log::set_level(new.log.level);
        // Also if nothing in it changed: what a file that it names holds may have.
        self.inner.config.send_replace(Arc::new(next));
        Ok(Done { text: told(&changed, &waits), handover: None })
    }
}

/// Reads it in a thread of its own, so that a file system that hangs costs that thread and not the
/// agent. At most one hangs.
async fn read(sources: Sources) -> Result<Sound, String> {
    let Ok(place) = READING.try_acquire() else {
        return Err("an earlier reload still reads the file; see whether its file system \
                    answers, and try again"
            .to_owned());
    };
    let (done, result) = oneshot::channel();
    let name = sources.name().to_owned();
    let work = move || {
        // An error means that it took too long, and the result is not wanted.
        let _ = done.send(load(&sources));
        drop(place);
    };
    let thread = thread::Builder::new().name("reload".to_owned()).spawn(work);
    thread.map_err(|error| format!("no thread can be started to read {name}: {error}"))?;
    match timeout(READ_MAX, result).await {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => Err(format!("the thread that read {name} has failed; look at the log")),
        Err(_) => Err(format!("{name} was not read within {READ_MAX:?}. Does its disk answer?")),
    }
}

/// A configuration with which an agent could start.
struct Sound {
    config: Config,
    /// The keys that it names.
    secrets: Secrets,
    warnings: Vec<Finding>,
}

/// Reads it, and asks of it what a start asks.
fn load(sources: &Sources) -> Result<Sound, String> {
    let config = Config::load(sources).map_err(|problem| problem.to_string())?;
    let around = config.accepted().map_err(|problem| problem.to_string())?;
    let secrets = config.secrets().map_err(|error| format!("{}: {error}", sources.name()))?;
    let warnings = [config.warnings.clone(), around].concat();
    Ok(Sound { config, secrets, warnings })
}

/// Held by the thread that reads.
static READING: Semaphore = Semaphore::const_new(1);
/// Longer than any file takes that can be read at all.
const READ_MAX: Duration = Duration::from_secs(10);

fn told(changed: &[String], waits: &[String]) -> String {
    match (changed.is_empty(), waits.is_empty()) {
        (true, true) => "nothing has changed".to_owned(),
        (false, true) => format!("changed: {}", changed.join("; ")),
        (true, false) => format!("changes only with a new start: {}", waits.join("; ")),
        (false, false) => {
            let (changed, waits) = (changed.join("; "), waits.join("; "));
            format!("changed: {changed}. Only with a new start: {waits}")
        }
    }
}
