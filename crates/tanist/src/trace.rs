//! What a node records of itself: [`Builder::trace`](crate::Builder::trace) writes it to a file,
//! [`Group::recent`](crate::Group::recent) has the last of it. `docs/trace.md` in the repository
//! describes the schema.

pub use tanist_core::trace::{Entry, Event, Header};
