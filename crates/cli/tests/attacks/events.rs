//! Clients that read a lot, and must not slow an election.
