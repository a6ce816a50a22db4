//! Which of two links between the same two processes stays.
//!
//! Both sides must come to the same answer from what both know, in whichever order the links
//! became known to them; else each might close the link that the other keeps.

use tanist_core::membership::NodeId;

use super::session::SessionId;

/// What a link has to say for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Claim {
    pub(super) session: SessionId,
    /// Who dialled.
    pub(super) dialler: NodeId,
    /// The dialler's number for the dial.
    pub(super) dial: u64,
    /// The session that the dialler had lost when it dialled.
    pub(super) lost: Option<SessionId>,
}

impl Claim {
    /// Whether this link stays and the other one goes.
    pub(super) fn beats(&self, other: &Self) -> bool {
        // A link that one side has given up is of no use, whichever side dialled it.
        if self.lost == Some(other.session) {
            return true;
        }
        if other.lost == Some(self.session) {
            return false;
        }
        // The two dials crossed: the lower id's stays.
        if self.dialler != other.dialler {
            return self.dialler < other.dialler;
        }
        self.dial > other.dial
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(session: u8, dialler: u32, dial: u64, lost: Option<u8>) -> Claim {
        Claim {
            session: SessionId([session; 8]),
            dialler: NodeId(dialler),
            dial,
            lost: lost.map(|session| SessionId([session; 8])),
        }
    }

    #[test]
    fn of_two_dials_that_crossed_the_one_of_the_lower_id_stays() {
        let (lower, higher) = (claim(1, 1, 1, None), claim(2, 2, 9, None));
        assert!(lower.beats(&higher));
        assert!(!higher.beats(&lower));
    }

    #[test]
    fn a_link_that_the_dialler_has_lost_goes_even_if_the_lower_id_dialled_it() {
        let (stale, fresh) = (claim(1, 1, 1, None), claim(2, 2, 1, Some(1)));
        assert!(fresh.beats(&stale));
        assert!(!stale.beats(&fresh));
    }

    #[test]
    fn of_two_dials_of_one_side_the_later_stays() {
        let (first, second) = (claim(1, 1, 1, None), claim(2, 1, 2, None));
        assert!(second.beats(&first));
        assert!(!first.beats(&second));
    }
}
