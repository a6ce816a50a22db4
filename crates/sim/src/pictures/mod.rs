//! Pictures of a trace: a story in words, a space-time diagram, a scene of nodes at their
//! positions, a map, a plot. They are drawn from the trace and nothing else.

mod contents;
pub mod diagram;
mod looks;
pub mod map;
mod names;
pub mod part;
pub mod plot;
pub mod scene;
mod speech;
pub mod story;
pub(crate) mod svg;
