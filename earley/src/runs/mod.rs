//! How a set treats texts over a class of characters, such as the inside of a JSON string.
//!
//! # The answers
//!
//! The input is a state between characters, and a class. Say that the state *reads n* if it reads every text of n characters
//! of the class, where a character that is cut at the end counts. A state that reads n reads n - 1. So each state
//! has a greatest number that it reads, its *distance*: 0, 1, 2, ... or no bound. Answers are statements about it:
//!
//! | answer | the distance is |
//! |---|---|
//! | `Unknown` | at least 0 |
//! | `AtLeast(n)` | at least n |
//! | `Unbounded` | without a bound |
//! | `AtMost(n)` | n, and no text of more characters is read |
//!
//! The first three are a chain of lower bounds, each of which implies those before it. `AtMost(n)` implies `AtLeast(n)`.
//! Of two true answers the one that says more is taken. An analysis that gives up answers with less, which is true too.
//!
//! # Why they are true
//!
//! * *One reading suffices.* A set reads what any of its items reads. So the distance of one item is a lower bound, and
//!   that of the items that have one context, by their automaton alone. The greatest of these bounds is one, too
//!   ([`class_distance`]).
//! * *States without a bound* ([`universal_states`]). A state has none if each character leads it to a state that has none.
//!   Each state within reach is assumed to have none, and the assumption is taken back where some character is refused
//!   or leads to no such state, until nothing changes. A text that is refused would have taken it back along its way.
//! * *Distances are lower bounds.* A search reads all characters at once, from sets of states to sets. A set that refuses
//!   some character has the distance 0, and so has each that was not looked at. Any other has one more than the least
//!   of those that a character leads to. By induction on n, a set of distance n or more reads n.
//! * *Repeats.* A repeat and the same repeat without a greatest count differ after the last iteration that is left, and a
//!   character ends one iteration at most. So the lesser of the two numbers is a lower bound.
//! * *Exploration.* The states that all texts lead to are listed, counts by intervals ([`exploration`]). If the list is
//!   closed and none of them refuses a character, there is no bound. If those that refuse are those after one counted
//!   repeat, and read nothing, the count decides.
//!
//! [`uniform_step`] answers another question: which state all characters of the class lead to.
//!
//! An analysis may change here without care elsewhere, as long as its answer stays true of every text over the class.
//! This folder imports the automaton and the tables.

pub(crate) mod boundary;
pub(crate) mod class_distance;
pub(crate) mod class_runs;
pub(crate) mod exploration;
pub(crate) mod run_shape;
pub(crate) mod uniform_step;
pub(crate) mod universal_states;
