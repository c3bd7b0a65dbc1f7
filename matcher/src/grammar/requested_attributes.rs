//! The captures, temperatures and bounds on tokens that a grammar's rules ask for.

use grammask_fsm::Program;

/// The attributes that the rules of a grammar ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestedAttributes {
    /// The least bound on tokens; `None` where no rule has one.
    pub(crate) min_token_bound: Option<usize>,
    /// Whether some rule has a temperature.
    pub(crate) has_temperature: bool,
}

impl RequestedAttributes {
    /// The attributes that a program's rules ask for, if any.
    pub(crate) fn from_program(program: &Program) -> Option<Self> {
        // Items and names that must differ are compared elsewhere.
        let is_followed = |options: &grammask_fsm::Options| {
            let has_name = options.capture.is_some() || options.end_capture.is_some();
            options.max_tokens > 0 || has_name || options.temperature.is_some()
        };
        if !program.has_options(is_followed) {
            return None;
        }
        let has_temperature = program.has_options(|options| options.temperature.is_some());
        let options = program.fragments().filter_map(|fragment| fragment.options.as_deref());
        let bounds = options.map(|options| options.max_tokens as usize).filter(|&bound| bound > 0);
        Some(Self { min_token_bound: bounds.min(), has_temperature })
    }
}
