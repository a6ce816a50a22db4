//! Querying a group and acting on it from the command line.

mod acting;
mod faults;
mod finding;
mod forms;
mod names;
mod reloading;
mod top;
mod views;
mod watching;
