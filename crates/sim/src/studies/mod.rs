//! Studies over runs: one run judged, counts against formulas, algorithms compared, fuzzing.

pub mod agreement;
pub mod compare;
pub mod fuzz;
pub mod graph;
pub mod roaming;
pub mod run;
pub mod sample;
pub mod scale;
pub mod shrink;
pub mod sweep;
pub mod theory;
pub mod trade_off;
