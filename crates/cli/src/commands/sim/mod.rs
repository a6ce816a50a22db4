//! `tanist sim`: elections in the simulator, one file per command.

pub(super) mod fuzz;
pub(super) mod list;
pub(super) mod mobility;
pub(super) mod mutants;
pub(super) mod run;
pub(super) mod scale;
pub(super) mod sweep;
