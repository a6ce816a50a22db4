//! One run of a test that is made for many seeds, and what of it is left out.
//!
//! Worlds that are made by a [`Trial`] tell it what their storms do. So a run that fails can be had
//! again with fewer nodes or fewer faults: what is left out is a [`Reduction`], which can be
//! written down and read again.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::rc::Rc;
use std::str::FromStr;

use super::builder::WorldBuilder;
use super::evidence::Evidence;
use crate::task::GroupTask;

/// One run of a test: what a test of [`for_each_seed`](super::for_each_seed) makes its worlds with.
#[derive(Clone, Debug)]
pub struct Trial {
    seed: u64,
    reduction: Rc<Reduction>,
    seen: Rc<RefCell<Seen>>,
}

/// What is left out of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reduction {
    /// The most nodes that a world has.
    pub(super) nodes: Option<u32>,
    /// Which faults of storms happen, counted over all storms of the run; none means all.
    pub(super) faults: Option<BTreeSet<u32>>,
    /// Whether a storm is over after its last fault.
    pub(super) is_short: bool,
}

/// What was seen of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The most nodes that a world was asked for.
    pub(super) nodes: u32,
    /// The faults that happened, with their numbers, in words.
    pub(super) faults: Vec<(u32, String)>,
    /// How many faults were drawn.
    drawn: u32,
    /// Whether the test named a node that was left out, so that its failure says nothing.
    pub(super) is_unfit: bool,
    /// Whether the last world of the run is to be kept.
    is_kept: bool,
    /// The story of the last world, and where its files are.
    pub(super) end: Option<(String, Option<Evidence>)>,
}

impl Trial {
    pub(super) fn new(seed: u64, reduction: &Reduction, is_kept: bool) -> Self {
        let seen = Seen { is_kept, ..Seen::default() };
        Self { seed, reduction: Rc::new(reduction.clone()), seen: Rc::new(RefCell::new(seen)) }
    }

    /// The seed, for what the test draws itself.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Describes the world of this seed with so many nodes; with fewer when a failure is shrunk.
    pub fn world<T: GroupTask>(&self, nodes: u32) -> WorldBuilder<T> {
        let mut seen = self.seen.borrow_mut();
        seen.nodes = seen.nodes.max(nodes);
        let most = self.reduction.nodes.unwrap_or(nodes);
        WorldBuilder::new(self.seed, nodes.min(most)).of(self.clone())
    }

    /// Counts a fault that a storm has drawn; whether it happens.
    pub(super) fn draws(&self) -> Option<u32> {
        let mut seen = self.seen.borrow_mut();
        seen.drawn += 1;
        let number = seen.drawn;
        let is_in = |faults: &BTreeSet<u32>| faults.contains(&number);
        self.reduction.faults.as_ref().is_none_or(is_in).then_some(number)
    }

    /// A fault happens.
    pub(super) fn notes(&self, number: u32, words: String) {
        self.seen.borrow_mut().faults.push((number, words));
    }

    /// Whether no further fault of a storm happens, and so the storm may end.
    pub(super) fn is_spent(&self) -> bool {
        let drawn = self.seen.borrow().drawn;
        let last = self.reduction.faults.as_ref().map(|faults| faults.last().copied().unwrap_or(0));
        self.reduction.is_short && last.is_some_and(|last| last <= drawn)
    }

    /// The test named a node that is not there.
    pub(super) fn is_misnamed(&self) {
        self.seen.borrow_mut().is_unfit = true;
    }

    /// Whether the world is to leave its story and its files.
    pub(super) fn keeps_end(&self) -> bool {
        self.seen.borrow().is_kept
    }

    pub(super) fn end(&self, story: String, evidence: Option<Evidence>) {
        self.seen.borrow_mut().end = Some((story, evidence));
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.borrow().clone()
    }
}

/// A seed and what is left out: `17`, or `17 nodes=3 faults=2,5 short`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Again {
    pub(super) seed: u64,
    pub(super) reduction: Reduction,
}

impl fmt::Display for Again {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Reduction { nodes, faults, is_short } = &self.reduction;
        write!(f, "{}", self.seed)?;
        if let Some(nodes) = nodes {
            write!(f, " nodes={nodes}")?;
        }
        if let Some(faults) = faults {
            let numbers: Vec<String> = faults.iter().map(ToString::to_string).collect();
            write!(f, " faults={}", numbers.join(","))?;
        }
        if *is_short {
            f.write_str(" short")?;
        }
        Ok(())
    }
}

impl FromStr for Again {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |what: &str| {
            format!(
                "{SEED_VARIABLE}={text:?}: {what}; write what a failed test printed, such as \
                 `17` or `17 nodes=3 faults=2,5 short`"
            )
        };
        let mut words = text.split_whitespace();
        let seed = words.next().and_then(|word| word.parse().ok());
        let seed = seed.ok_or_else(|| wrong("it begins with no seed"))?;
        let mut reduction = Reduction::default();
        for word in words {
            if word == "short" {
                reduction.is_short = true;
            } else if let Some(nodes) = word.strip_prefix("nodes=") {
                let nodes = nodes.parse().map_err(|_| wrong("`nodes` is not a number"))?;
                reduction.nodes = Some(nodes);
            } else if let Some(faults) = word.strip_prefix("faults=") {
                let numbers = faults.split(',').filter(|number| !number.is_empty());
                let numbers: Result<BTreeSet<u32>, _> = numbers.map(str::parse).collect();
                reduction.faults = Some(numbers.map_err(|_| wrong("`faults` are not numbers"))?);
            } else {
                return Err(wrong(&format!("`{word}` is not known")));
            }
        }
        Ok(Self { seed, reduction })
    }
}

/// Says which seed a test of [`for_each_seed`](super::for_each_seed) runs.
pub(super) const SEED_VARIABLE: &str = "TANIST_SEED";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_can_be_read_again() {
        for text in ["17", "17 nodes=3", "17 faults=", "0 nodes=3 faults=2,5 short"] {
            assert_eq!(text.parse::<Again>().unwrap().to_string(), text);
        }
        for text in ["", "n3", "17 nodes=x", "17 faults=1;2", "17 shorter"] {
            let error = text.parse::<Again>().unwrap_err();
            assert!(error.contains("write what a failed test printed"), "{error}");
        }
    }
}
