//! How nodes reach each other.
