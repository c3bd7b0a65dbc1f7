//! In place of llguidance in a program that is built without it: the same functions, which say so.

use anyhow::{Result, bail};

use super::interface::Engine;
use super::tokenizer::LoadedTokenizer;

const ABSENT: &str = "this program is built without llguidance; build it with `--features llguidance`";

/// Nothing is known of a vocabulary.
pub(crate) struct Environment;

pub(crate) fn environment(_: &LoadedTokenizer) -> Result<Environment> {
    Ok(Environment)
}

pub(crate) fn environment_of(_: Vec<Vec<u8>>, _: &[u32], _: u32) -> Environment {
    Environment
}

pub(crate) fn engine(_: &Environment) -> Result<Box<dyn Engine>> {
    bail!(ABSENT)
}

pub(crate) fn token_bytes(_: &LoadedTokenizer) -> Result<Vec<Vec<u8>>> {
    bail!(ABSENT)
}
