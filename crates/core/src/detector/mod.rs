//! Failure detection: which peers are suspected.
//!
//! In the synchronous model an unanswered query for T means failed, and the algorithms wait for
//! that themselves. What is left for a layer below them: notice that a peer has been silent for too
//! long, and pass on evidence that the transport has.

pub mod timeout;

pub use timeout::{Command, Detector, Heartbeat, Notice, Timer};
pub(crate) use timeout::{MESSAGES, TIMERS};
