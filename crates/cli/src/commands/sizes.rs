//! How many nodes a command is to try: a range, or one number.

use std::ops::RangeInclusive;
use std::str::FromStr;

use tanist_sim::scenario::NODES_MAX;

/// Sizes of a group, both ends included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) RangeInclusive<u32>);

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected two numbers such as 2..64, or one".to_owned();
        let number = |text: &str| text.trim().parse::<u32>().map_err(|_| expected());
        let (first, last) = text
            .split_once("..")
            .map_or((text, text), |(first, last)| (first, last.strip_prefix('=').unwrap_or(last)));
        let (first, last) = (number(first)?, number(last)?);
        if first == 0 {
            return Err("a group has at least one node".to_owned());
        }
        if last > NODES_MAX {
            return Err(format!("a simulated group has at most {NODES_MAX} nodes"));
        }
        if last < first {
            return Err(format!("{first}..{last} is empty: the smaller number comes first"));
        }
        Ok(Self(first..=last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_include_both_ends() {
        assert_eq!("2..64".parse(), Ok(Sizes(2..=64)));
        assert_eq!("2..=64".parse(), Ok(Sizes(2..=64)));
        assert_eq!("5".parse(), Ok(Sizes(5..=5)));
    }

    #[test]
    fn sizes_that_are_none_are_refused() {
        for text in [
            "",
            "..",
            "2..",
            "..3",
            "a..b",
            "-1..2",
            "0..3",
            "5..4",
            "2...4",
            "2001",
            "2..4000000000",
        ] {
            assert!(text.parse::<Sizes>().is_err(), "{text}");
        }
    }
}
