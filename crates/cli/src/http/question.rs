//! What is asked of the driver on behalf of all clients.
//!
//! One question is in flight at a time, and its answer serves every client that waits for one. So
//! the driver answers at most one question in [`FRESH`], however many clients ask.

use std::sync::Arc;
use std::time::Duration;

use tanist::{Group, Metrics};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::refusal::Refusal;

/// The last answer of the driver; locked while a question is in flight.
#[derive(Debug, Default)]
pub(super) struct Question {
    last: Mutex<Option<Answered>>,
}

#[derive(Debug)]
struct Answered {
    asked_at: Instant,
    metrics: Arc<Metrics>,
}

impl Question {
    /// What the node counts, if its driver answers soon.
    pub(super) async fn metrics(&self, group: &Group) -> Result<Arc<Metrics>, Refusal> {
        match timeout(ANSWER_MAX, self.ask(group)).await {
            Ok(Some(metrics)) => Ok(metrics),
            Ok(None) => Err(Refusal::Ended),
            Err(_) => Err(Refusal::Silent(ANSWER_MAX)),
        }
    }

    async fn ask(&self, group: &Group) -> Option<Arc<Metrics>> {
        let came_at = Instant::now();
        let mut last = self.last.lock().await;
        let is_fresh = |last: &&Answered| {
            // Asked after this client came, or so shortly before that it makes no difference.
            last.asked_at >= came_at || last.asked_at.elapsed() < FRESH
        };
        if let Some(last) = last.as_ref().filter(is_fresh) {
            return Some(Arc::clone(&last.metrics));
        }
        let asked_at = Instant::now();
        let metrics = Arc::new(group.metrics().await?);
        *last = Some(Answered { asked_at, metrics: Arc::clone(&metrics) });
        Some(metrics)
    }
}

/// A driver that is well answers a thousand times sooner.
const ANSWER_MAX: Duration = Duration::from_secs(1);
/// For so long an answer serves other clients, too.
const FRESH: Duration = Duration::from_millis(10);
