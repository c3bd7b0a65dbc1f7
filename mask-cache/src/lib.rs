//! Vocabularies, token masks and how masks are computed and kept
