//! Everything that can go wrong around a group: each is a clear error or a count, and the group
//! stays up.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop where it stands")]

mod disk;
mod identity;
mod port;
mod socket;
