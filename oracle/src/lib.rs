//! A naive recogniser that judges the engines in tests
