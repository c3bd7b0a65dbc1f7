//! Compiler, compiled grammar and matcher: from a structure to a mask for every decoding step
