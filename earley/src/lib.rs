//! A lazy automaton over interned Earley sets
