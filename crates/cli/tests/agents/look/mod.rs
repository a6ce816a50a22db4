//! Querying a group and acting on it from the command line.

mod acting;
mod forms;
mod reloading;
mod top;
mod watching;
