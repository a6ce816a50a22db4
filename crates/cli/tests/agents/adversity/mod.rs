//! Everything that can go wrong around a group: each is a clear error or a count, and the group
//! stays up.

mod disk;
mod identity;
mod port;
mod socket;
