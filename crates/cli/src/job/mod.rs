//! A command that runs only while a node leads, and everything that it starts.
//!
//! ```text
//!   agent  <--lines-->  tanist run  <--lines-->  tanist keep  --starts-->  COMMAND
//!   (who leads)         (what to do about it)    (nothing outlives it)
//! ```
//!
//! `tanist run` may be killed at any moment; the keeper is what ends the job then. Both are child
//! subreapers, so a process that leaves its group or its session is still found. What is assumed:
//! Linux, /proc, and that `tanist run` and its keeper are not killed at the same moment: then only
//! the command itself ends, not what it started. What is left out: a command that gains rights
//! which this user does not have can be neither killed nor replaced; it is waited for.
//!
//! Reading order: [`run`] (the life of `tanist run`), [`kept`] (its hold on the keeper),
//! [`keeper`] (the keeper), [`descendants`] (finding and ending processes), [`channel`] (lines
//! and descriptors over a socket).

pub(crate) mod channel;
pub(crate) mod descendants;
pub(crate) mod ending;
pub(crate) mod keeper;
pub(crate) mod kept;
pub(crate) mod program;
pub(crate) mod run;
pub(crate) mod signals;
pub(crate) mod terminal;
