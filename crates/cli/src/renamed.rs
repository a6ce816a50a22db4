//! Old names of commands, flags, paths and fields: using one is an error that says the new name.
//!
//! Nothing is accepted under an old name, so that no script depends on both.

use clap::error::{ContextKind, ContextValue};

/// The new name, if this is the old name of something.
pub(crate) fn new_name(old: &str) -> Option<&'static str> {
    NAMES.iter().find(|(known, _)| *known == old).map(|(_, new)| *new)
}

/// What to say about a command line that uses an old name. None: it has another mistake.
pub(crate) fn complaint(error: &clap::Error) -> Option<String> {
    [ContextKind::InvalidSubcommand, ContextKind::InvalidArg].into_iter().find_map(|place| {
        let Some(ContextValue::String(old)) = error.get(place) else { return None };
        new_name(old).map(|new| format!("`{old}` is called `{new}`; nothing was done"))
    })
}

const NAMES: &[(&str, &str)] = &[
    ("take-part", "rejoin"),
    ("/v1/take-part", "/v1/rejoin"),
    ("expect_epoch", "expect_group_number"),
    ("--hasty", "--early-timers"),
    ("--must-suffice", "--require-within-counter"),
];
