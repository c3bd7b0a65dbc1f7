//! Structured generation: the exact token mask of a grammar at every decoding step
