//! How results, progress and warnings are written: tables, JSON, YAML, colours, lines of a log.

pub(crate) mod colour;
pub(crate) mod lines;
pub(crate) mod log;
pub(crate) mod moment;
pub(crate) mod output;
pub(crate) mod progress;
pub(crate) mod table;
pub(crate) mod violation;
mod yaml;
