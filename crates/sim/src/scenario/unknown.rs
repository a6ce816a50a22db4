//! The error text for an unknown name in a scenario or script.

/// Names of schema 1 of traces and scenarios, and what they are called now.
const RENAMED: &[(&str, &str)] = &[
    ("step-aside", "withdraw"),
    ("return", "rejoin"),
    ("Rank", "Priority"),
    ("beat", "heartbeat"),
];

/// The error for an unknown name: its new name if it had one, else everything that is expected.
pub(super) fn unknown<'a>(
    what: &str,
    found: &str,
    expected: impl IntoIterator<Item = &'a str>,
) -> String {
    let expected: Vec<_> = expected.into_iter().collect();
    let renamed = RENAMED.iter().find(|(old, new)| *old == found && expected.contains(new));
    match renamed {
        Some((old, new)) => format!("the {what} {old:?} is called {new:?}"),
        None => format!("no {what} {found:?}; expected one of: {}", expected.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_name_is_answered_with_the_new_one() {
        let faults = ["withdraw", "rejoin"];
        assert_eq!(
            unknown("fault", "step-aside", faults),
            "the fault \"step-aside\" is called \"withdraw\""
        );
        assert_eq!(
            unknown("fault", "beat", faults),
            "no fault \"beat\"; expected one of: withdraw, rejoin"
        );
    }
}
