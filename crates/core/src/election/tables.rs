//! The facts of every kind of message and of every timer, looked up by name.
//!
//! The tables are built at compile time from those of the algorithms and of the layers around them:
//! a kind or timer that none of them describes does not compile.

use super::DESCRIPTORS;
use super::descriptor::{MessageInfo, TimerInfo};
use crate::mutant::Mutant;
use crate::node::LAYERS;
use crate::trace::{Kind, TimerName};

impl Kind {
    /// What is known of messages of this kind.
    #[must_use]
    pub const fn info(self) -> &'static MessageInfo {
        &MESSAGES[self as usize]
    }
}

impl TimerName {
    /// What is known of this timer.
    #[must_use]
    pub const fn info(self) -> &'static TimerInfo {
        &TIMERS[self as usize]
    }
}

/// The facts of a layer around every algorithm.
#[derive(Clone, Copy, Debug)]
pub struct LayerInfo {
    /// What the layer is called.
    pub name: &'static str,
    /// Its messages.
    pub messages: &'static [MessageInfo],
    /// Its timers.
    pub timers: &'static [TimerInfo],
    /// Its mutants, in one or more lists.
    pub mutants: &'static [&'static [Mutant]],
}

static MESSAGES: [MessageInfo; Kind::ALL.len()] = {
    let mut table = [DESCRIPTORS[0].messages[0]; Kind::ALL.len()];
    let mut at = 0;
    while at < table.len() {
        table[at] = message(Kind::ALL[at]);
        at += 1;
    }
    table
};

static TIMERS: [TimerInfo; TimerName::ALL.len()] = {
    let mut table = [DESCRIPTORS[0].timers[0]; TimerName::ALL.len()];
    let mut at = 0;
    while at < table.len() {
        table[at] = timer(TimerName::ALL[at]);
        at += 1;
    }
    table
};

const fn message(kind: Kind) -> MessageInfo {
    let mut list = 0;
    while list < DESCRIPTORS.len() + LAYERS.len() {
        let rows = if list < DESCRIPTORS.len() {
            DESCRIPTORS[list].messages
        } else {
            LAYERS[list - DESCRIPTORS.len()].messages
        };
        let mut row = 0;
        while row < rows.len() {
            if rows[row].kind as usize == kind as usize {
                return rows[row];
            }
            row += 1;
        }
        list += 1;
    }
    panic!("a kind of message that no algorithm and no layer describes")
}

const fn timer(name: TimerName) -> TimerInfo {
    let mut list = 0;
    while list < DESCRIPTORS.len() + LAYERS.len() {
        let rows = if list < DESCRIPTORS.len() {
            DESCRIPTORS[list].timers
        } else {
            LAYERS[list - DESCRIPTORS.len()].timers
        };
        let mut row = 0;
        while row < rows.len() {
            if rows[row].name as usize == name as usize {
                return rows[row];
            }
            row += 1;
        }
        list += 1;
    }
    panic!("a timer that no algorithm and no layer describes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_in_several_tables_has_equal_rows() {
        let own = DESCRIPTORS.iter().flat_map(|descriptor| descriptor.messages);
        for row in own.chain(LAYERS.iter().flat_map(|layer| layer.messages)) {
            assert_eq!(row, row.kind.info());
        }
    }

    #[test]
    fn a_timer_in_several_tables_has_equal_rows() {
        let own = DESCRIPTORS.iter().flat_map(|descriptor| descriptor.timers);
        for row in own.chain(LAYERS.iter().flat_map(|layer| layer.timers)) {
            assert_eq!(row, row.name.info());
        }
    }
}
