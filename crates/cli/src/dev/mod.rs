//! The throw-away group of `tanist dev` and `tanist bench`: real agents on this machine.

pub(crate) mod agreement;
pub(crate) mod directory;
pub(crate) mod group;
pub(crate) mod harness;
pub(crate) mod logs;
pub(crate) mod orders;
pub(crate) mod places;
pub(crate) mod plan;
pub(crate) mod work;
