//! Faults around a group: each ends in a clear error or a count, and the group stays up.

mod disk;
mod identity;
mod port;
mod socket;
