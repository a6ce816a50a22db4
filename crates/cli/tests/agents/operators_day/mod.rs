//! A day of an operator with default settings: what must not be noticed, and what must.

mod restarts;
