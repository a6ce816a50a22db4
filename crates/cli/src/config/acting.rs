//! Algorithms whose leaders never become active.
//!
//! A leader is active when every node that it can reach is in its group. The leader of an algorithm
//! that hands nothing over does not know who is in its group, so it waits for every peer, and a job
//! would wait without end. Such an algorithm is for studies: `tanist dev` runs it, an agent of its
//! own does not. By radio most nodes are out of reach, and hooks and roles are of use; there an
//! agent runs, and only jobs are refused.

use tanist::Algorithm;

use super::draft::Draft;
use super::value::Value;

/// Refuses it where every node reaches every other.
pub(super) fn check(draft: &mut Draft) {
    let settings = &draft.settings;
    let is_radio = settings.get("radio.interfaces").is_some();
    let peers = settings.value("peers").map_or(0, |peers| peers.as_list().len());
    let algorithm = settings.value("algorithm").and_then(Value::as_algorithm);
    let Some(what) = algorithm.and_then(|algorithm| why_inactive(algorithm, peers)) else { return };
    if !is_radio {
        let place = settings.origin("algorithm");
        draft.refuse(place, Some("algorithm"), what);
    }
}

/// Why no leader of a group of so many nodes becomes active, and what to do; none: leaders do.
pub(crate) fn why_inactive(algorithm: Algorithm, nodes: usize) -> Option<String> {
    if algorithm.descriptor().knows_members() || nodes < 2 {
        return None;
    }
    let can = Algorithm::ALL.iter().filter(|can| can.descriptor().knows_members());
    let can: Vec<&str> = can.map(|can| can.name()).collect();
    let name = algorithm.name();
    Some(format!(
        "a leader of `{name}` does not know who is in its group, so it never becomes active, and \
         no job would ever start. Choose one of {}; `tanist dev --algorithm {name}` shows the \
         election",
        can.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_algorithm_that_hands_nothing_over_is_named_with_those_that_can() {
        let why = why_inactive(Algorithm::BullyLecture, 3).unwrap();
        assert!(why.contains("bully-lecture") && why.contains("Choose one of bully, invitation"));
        assert!(!why.contains("adhoc"), "{why}");
        assert_eq!(why_inactive(Algorithm::Invitation, 3), None);
        // Alone, there is no other node to know of.
        assert_eq!(why_inactive(Algorithm::BullyLecture, 1), None);
    }
}
