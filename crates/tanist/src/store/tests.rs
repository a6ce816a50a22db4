//! The store on a disk that crashes, tears and fails in every way that a file system allows.
//!
//! What needs real files is in `tests/store_*.rs` of this crate.

mod adoption;
mod crash_check;
mod crashes;
mod failures;
mod simulated_disk;
mod simulated_files;
