//! Promises of the configuration as a whole.
