//! Chance for the protocols of a live node.

use tanist_core::Dice;

/// Chance from the operating system.
pub(super) struct SystemDice;

impl Dice for SystemDice {
    fn roll(&mut self, faces: u32) -> u32 {
        // Without a source of chance the lowest face is as good as any: it only spreads delays.
        getrandom::u32().unwrap_or(0) % faces.max(1)
    }
}
