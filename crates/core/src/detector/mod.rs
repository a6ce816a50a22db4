//! Whom do we suspect?
//!
//! In the synchronous model an unanswered query for T means failed, and the algorithms wait for
//! that themselves. What is left for a layer below them: notice that somebody has been silent for
//! suspiciously long, and pass on evidence that the transport has.

pub mod timeout;

pub use timeout::{Command, Detector, Heartbeat, Notice, Timer};
pub(crate) use timeout::{MESSAGES, TIMERS};
