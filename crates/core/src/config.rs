//! The configuration that all nodes of a group share, apart from who its members are.
//!
//! [`GroupSettings`] is a draft that can be edited; [`GroupConfig`] is one that was checked and
//! cannot change. A protocol only ever sees the latter, so it checks nothing again. Leaves out:
//! everything that depends on the members, which is in [`Membership`].

use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;

use crate::election::{Algorithm, invitation};
use crate::membership::Membership;
use crate::mutant::Mutant;
use crate::options::Options;
use crate::policy::{self, Preempt, PreemptError};
use crate::recall::RecallMode;
use crate::timing::Timing;

/// The draft of a group's configuration; not checked yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupSettings {
    /// Which algorithm elects.
    pub algorithm: Algorithm,
    /// Bounds and periods.
    pub timing: Timing,
    /// The options of every algorithm; only those of `algorithm` are read.
    pub options: Options,
    /// Whether a node that starts asks the others for the highest group number of its own.
    pub recall: RecallMode,
    /// Whether a node of higher rank takes over from an established coordinator.
    pub preempt: Preempt,
    /// A fault seeded on purpose; ignored without the `mutants` feature.
    pub mutant: Option<Mutant>,
}

impl GroupSettings {
    /// An algorithm with its default options: no recall, no fault, and the highest node wins.
    #[must_use]
    pub fn new(algorithm: Algorithm, timing: Timing) -> Self {
        Self {
            algorithm,
            timing,
            options: Options::default(),
            recall: RecallMode::Off,
            preempt: Preempt::Always,
            mutant: None,
        }
    }
}

/// The checked configuration of a group. Made only by [`GroupConfig::new`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupConfig {
    settings: GroupSettings,
}

impl GroupConfig {
    /// Checks that the settings fit each other.
    ///
    /// # Errors
    /// If the algorithm or its options cannot do what another setting asks for.
    pub fn new(settings: GroupSettings) -> Result<Self, ConfigError> {
        settings.preempt.checked(settings.algorithm, &settings.options)?;
        Ok(Self { settings })
    }

    /// The configuration of the elections inside the groups of this one (`super-peer`).
    #[must_use]
    pub fn inner(&self) -> Self {
        let algorithm = self.settings.options.super_peer.inner.algorithm();
        Self { settings: GroupSettings { algorithm, preempt: Preempt::Always, ..self.settings } }
    }

    /// The settings that were checked.
    #[must_use]
    pub const fn settings(&self) -> &GroupSettings {
        &self.settings
    }

    /// Which algorithm elects.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.settings.algorithm
    }

    /// Bounds and periods.
    #[must_use]
    pub const fn timing(&self) -> &Timing {
        &self.settings.timing
    }

    /// The options of every algorithm; only those of the configured one are read.
    #[must_use]
    pub const fn options(&self) -> &Options {
        &self.settings.options
    }

    /// Whether a node that starts asks the others for the highest group number of its own.
    #[must_use]
    pub const fn recall(&self) -> RecallMode {
        self.settings.recall
    }

    /// Whether a node of higher rank takes over from an established coordinator.
    #[must_use]
    pub const fn preempt(&self) -> Preempt {
        self.settings.preempt
    }

    /// A fault seeded on purpose; ignored without the `mutants` feature.
    #[must_use]
    pub const fn mutant(&self) -> Option<Mutant> {
        self.settings.mutant
    }

    /// The settings that two nodes compare when they meet, by their keys in a configuration file;
    /// algorithm, options and timing are compared apart from these.
    #[must_use]
    pub fn compared(&self) -> Vec<(&'static str, String)> {
        let preempt = match self.settings.preempt {
            Preempt::Always => "always".to_string(),
            sticky @ (Preempt::Never | Preempt::After(_)) => sticky.in_header(),
        };
        vec![("mode", "available".to_string()), ("preempt", preempt)]
    }

    /// How long after it formed a group alone a node first looks for others.
    #[must_use]
    pub fn first_check(&self, members: &Membership) -> Duration {
        match self.settings.options.invitation.policy {
            invitation::Policy::Precedence => self.settings.timing.first_check(),
            invitation::Policy::Delay
            | invitation::Policy::IgnoreLower
            | invitation::Policy::Prompted
            | invitation::Policy::OnlyLower => {
                self.settings.preempt.first_check(&self.settings.timing, members)
            }
        }
    }

    /// How long a node waits for an established coordinator to invite it.
    #[must_use]
    pub fn join_wait(&self, members: &Membership) -> Duration {
        policy::join_wait(&self.settings.timing, members)
    }
}

/// Why settings are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The algorithm, or its merge policy, decides which node takes over.
    #[error(transparent)]
    Preempt(#[from] PreemptError),
}
