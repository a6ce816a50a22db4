//! A trace as something that people look at: a story in words, a space-time diagram, a scene of
//! places, a map, a plot. They are read off the trace and nothing else.

pub mod diagram;
mod looks;
pub mod map;
pub mod plot;
pub mod scene;
pub mod story;
pub(crate) mod svg;
