//! Hooks and health programs that hang.
