//! Exit codes that a service manager acts on, and units that must not disturb each other.
