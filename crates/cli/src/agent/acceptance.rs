//! Whether a configuration is accepted, asked before a node starts.

use std::thread;

use tokio::sync::oneshot;

use crate::config::Config;
use crate::problem::Problem;

/// Looks at everything that a configuration names, and logs the warnings. In a thread of its own: a
/// file system that hangs must not keep the agent from its signals.
pub(super) async fn ask(config: &Config) -> Result<(), Problem> {
    let (done, result) = oneshot::channel();
    let config = config.clone();
    let work = move || {
        // An error means that the agent was told to end.
        let _ = done.send(config.accepted());
    };
    let thread = thread::Builder::new().name("acceptance".to_owned()).spawn(work);
    thread.map_err(|error| Problem::of_system(&error))?;
    let Ok(accepted) = result.await else {
        let what = "the thread that checked the configuration has failed; see the log".to_owned();
        return Err(Problem::Unavailable(what));
    };
    for warning in accepted? {
        tracing::warn!("{warning}");
    }
    Ok(())
}
