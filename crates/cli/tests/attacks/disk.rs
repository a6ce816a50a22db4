//! Disks that are slow, full or wrong.
