//! A stderr or stdout that takes nothing.
