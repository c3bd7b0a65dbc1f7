//! Masks of drafts: tokens that were guessed ahead and are to be judged at once.
//!
//! A speculating engine guesses a tree of tokens, in which each path is one way to continue the text, and
//! runs the model over all of it in one pass. It needs a mask for each node: the tokens that may follow if
//! the path to that node were accepted. The naive way gives each node a matcher of its own. Here one matcher
//! walks the tree depth first, accepts on the way down and takes back on the way up, both of which are pushes
//! and pops of one state. The walk keeps its place on an explicit stack of the nodes on the current path, so
//! a draft of any depth is safe.

use std::sync::Arc;

use grammask_grammar_ir::Interrupt;
use grammask_mask_cache::{TokenId, words_for};
use grammask_parser_backend::Backend;

use super::mask_kind::MaskKind;
use super::matcher::Matcher;
use crate::base::buffer_size::BufferTooSmall;
use crate::base::error::MatchError;

/// A tree of draft tokens. Node 0 is the root; its token was accepted before and is not read. The same token may be in
/// many nodes.
///
/// ```
/// use grammask_mask_cache::TokenId;
/// use grammask_matcher::DraftTree;
///
/// let [one, two] = [1, 2].map(|id| TokenId::new(id).expect("a small id"));
/// let mut tree = DraftTree::chain([one, two]);
/// assert_eq!(tree.add(1, one), Some(3));
/// assert_eq!(tree.len(), 4);
/// ```
#[derive(Clone, Debug)]
pub struct DraftTree {
    nodes: Vec<DraftNode>,
}

#[derive(Clone, Debug, Default)]
struct DraftNode {
    /// `None` for the root, and for a number that is no token's.
    token: Option<TokenId>,
    first_child: Option<usize>,
    next_sibling: Option<usize>,
}

/// Arrays that are not a tree, or too little room for its masks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The arrays have different lengths.
    #[error(
        "the arrays of a draft tree must have the same length; they have {first_child}, {next_sibling} and {tokens}"
    )]
    Lengths {
        /// Length of the array of first children.
        first_child: usize,
        /// Length of the array of next siblings.
        next_sibling: usize,
        /// Length of the array of tokens.
        tokens: usize,
    },
    /// A node does not exist, is named twice, is the root, or is a sibling of the root.
    #[error(
        "a draft tree must name each node but node 0 at most once, and no other, and node 0 has no sibling; node {by} names {named} against that"
    )]
    NotATree {
        /// The node that names another.
        by: usize,
        /// The node that it names.
        named: i64,
    },
    /// The masks do not fit into the words.
    #[error(transparent)]
    BufferTooSmall(#[from] BufferTooSmall),
}

/// The outcome for a node of a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DraftRow {
    /// The path to the node can be accepted, and its row holds the mask after it. Never
    /// [`MaskKind::Unchanged`]: each row has memory of its own.
    Filled(MaskKind),
    /// The path ends with a stop token: it can be accepted, and nothing may follow.
    Ended,
    /// The node's token, or one above it, is not allowed.
    Refused,
    /// A limit was reached at the node: nothing is known of it.
    Failed(MatchError),
    /// The node was not looked at: the walk was interrupted, a limit was reached above, or the root does not lead
    /// to it.
    Skipped,
}

/// The treatment of the words of rows that no mask is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OtherRows {
    /// They become 0: nothing may follow there.
    #[default]
    Clear,
    /// They stay as they are.
    Keep,
}

impl Default for DraftTree {
    /// The root alone.
    fn default() -> Self {
        Self { nodes: vec![DraftNode::default()] }
    }
}

impl DraftTree {
    /// A path: each token is the only child of the one before.
    pub fn chain(tokens: impl IntoIterator<Item = TokenId>) -> Self {
        let mut tree = Self::default();
        for (parent, token) in tokens.into_iter().enumerate() {
            tree.add(parent, token);
        }
        tree
    }

    /// Adds a child to a node, and returns its number: that of all nodes before. `None` if there is no such parent.
    pub fn add(&mut self, parent: usize, token: TokenId) -> Option<usize> {
        let number = self.nodes.len();
        // Before its siblings, since the order of children decides about nothing.
        let next_sibling = self.nodes.get_mut(parent)?.first_child.replace(number);
        self.nodes.push(DraftNode { token: Some(token), first_child: None, next_sibling });
        Some(number)
    }

    /// A tree as engines encode it: for each node its first child, its next sibling and its token, -1 where there is
    /// none. Nodes that no other node names are not part of the tree.
    ///
    /// # Errors
    ///
    /// Where the arrays are no tree. Every node is named at most once and the root never, so that walking it comes to
    /// an end. The root has no sibling.
    pub fn from_arrays(
        first_child: &[i64],
        next_sibling: &[i64],
        tokens: &[i64],
    ) -> Result<Self, DraftError> {
        if first_child.len() != tokens.len() || next_sibling.len() != tokens.len() {
            return Err(DraftError::Lengths {
                first_child: first_child.len(),
                next_sibling: next_sibling.len(),
                tokens: tokens.len(),
            });
        }
        if let Some(&named) = next_sibling.first()
            && named != -1
        {
            return Err(DraftError::NotATree { by: 0, named });
        }
        // The root is named by nobody, and each other node once at most. So no walk from the root comes to a
        // node twice. A node that nothing names is allowed: its row stays skipped.
        let mut seen = vec![false; tokens.len()];
        let mut node = |by: usize, named: i64| {
            if named == -1 {
                return Ok(None);
            }
            let node = usize::try_from(named).ok().filter(|&node| node != 0);
            match node.and_then(|node| seen.get_mut(node)) {
                Some(seen) if !*seen => {
                    *seen = true;
                    Ok(node)
                }
                _ => Err(DraftError::NotATree { by, named }),
            }
        };
        let mut nodes = Vec::with_capacity(tokens.len());
        for (number, &token) in tokens.iter().enumerate() {
            let token = u32::try_from(token).ok().and_then(TokenId::new);
            nodes.push(DraftNode {
                token,
                first_child: node(number, first_child[number])?,
                next_sibling: None,
            });
        }
        for (number, &named) in next_sibling.iter().enumerate() {
            nodes[number].next_sibling = node(number, named)?;
        }
        Ok(Self { nodes })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

impl<B: Backend> Matcher<B> {
    /// Writes a mask for each node of a draft: row `i` of `words`, from word `i * stride` on, says what may
    /// follow the path to node `i`. Returns the outcome of each node, in the order of the nodes; `others`
    /// decides about the rows of paths that are refused or end. The interrupt is asked at each node; rows
    /// that were not reached are [`DraftRow::Skipped`]. The matcher is at the same place afterwards.
    ///
    /// # Errors
    ///
    /// Fails if there is too little room; nothing is written then. Limits concern single rows.
    pub fn fill_draft_masks(
        &mut self,
        tree: &DraftTree,
        words: &mut [u32],
        stride: usize,
        others: OtherRows,
        interrupt: &Interrupt,
    ) -> Result<Vec<DraftRow>, DraftError> {
        let row_words = words_for(self.grammar.vocabulary().len());
        BufferTooSmall::check(tree.len(), stride, row_words, words.len())?;
        let (here, last_mask) = (self.place(), self.last_mask.take());
        let generation = Arc::clone(self.generation());
        let mut rows = vec![DraftRow::Skipped; tree.len()];
        self.walk_draft(tree, interrupt, &mut rows, |matcher, place| {
            // "Unchanged" tells the caller that the memory of a row already has the mask. Each row here has
            // its own memory, so each mask counts as new.
            matcher.last_mask = None;
            matcher.fill_mask_words(&mut words[place * stride..][..row_words])
        });
        self.return_to(here);
        // A mask of before is still the last one unless its tables were left.
        self.last_mask = if Arc::ptr_eq(&generation, self.generation()) { last_mask } else { None };
        if others == OtherRows::Clear {
            for (place, _) in rows.iter().enumerate().filter(|(_, row)| !matches!(row, DraftRow::Filled(_))) {
                words[place * stride..][..row_words].fill(0);
            }
        }
        Ok(rows)
    }

    /// The temperature to sample with after each node of a draft, as [`temperature`](Self::temperature) tells
    /// it; `None` also for nodes that cannot be accepted or end the text. The matcher is at the same place
    /// afterwards.
    ///
    /// # Errors
    ///
    /// As for [`temperature`](Self::temperature).
    pub fn draft_temperatures(&mut self, tree: &DraftTree) -> Result<Vec<Option<f32>>, MatchError> {
        let mut temperatures = vec![None; tree.len()];
        if !self.has_temperatures() {
            return Ok(temperatures);
        }
        let here = self.place();
        // The rows are only wanted for their errors here.
        let mut rows = vec![DraftRow::Skipped; tree.len()];
        self.walk_draft(tree, &Interrupt::never(), &mut rows, |matcher, place| {
            temperatures[place] = matcher.temperature()?;
            Ok(MaskKind::Some)
        });
        self.return_to(here);
        let failed = rows.into_iter().find_map(|row| match row {
            DraftRow::Failed(error) => Some(error),
            _ => None,
        });
        failed.map_or(Ok(temperatures), Err)
    }

    /// Depth first, in the order of children and siblings. Leaves the matcher somewhere in the tree.
    fn walk_draft(
        &mut self,
        tree: &DraftTree,
        interrupt: &Interrupt,
        rows: &mut [DraftRow],
        mut fill: impl FnMut(&mut Self, usize) -> Result<MaskKind, MatchError>,
    ) {
        // The accepted nodes on the path, the root first.
        let mut path: Vec<usize> = Vec::new();
        let mut next = if tree.is_empty() { None } else { Some(0) };
        loop {
            let Some(place) = next else {
                let Some(done) = path.pop() else { return };
                // If a limit is in the way, the rest of the tree cannot be reached.
                if done != 0 && self.rollback(1).is_err() {
                    return;
                }
                next = tree.nodes[done].next_sibling;
                continue;
            };
            if interrupt.check().is_err() {
                return;
            }
            let entered = if place == 0 { Ok(()) } else { self.accept_guess(tree.nodes[place].token) };
            if let Err(row) = entered {
                if row == DraftRow::Refused {
                    refuse_below(tree, place, rows);
                }
                rows[place] = row;
                next = tree.nodes[place].next_sibling;
                continue;
            }
            path.push(place);
            next = tree.nodes[place].first_child;
            // There is no mask after a stop token, and its children are all refused when they are tried.
            rows[place] = if self.is_terminated() {
                DraftRow::Ended
            } else {
                match fill(self, place) {
                    Ok(kind) => DraftRow::Filled(kind),
                    // A text without stop tokens has ended where nothing can follow.
                    Err(MatchError::Terminated) => DraftRow::Ended,
                    // The walk below the node does not need the node's mask.
                    Err(error) => DraftRow::Failed(error),
                }
            };
        }
    }

    fn accept_guess(&mut self, token: Option<TokenId>) -> Result<(), DraftRow> {
        // A number outside of the vocabulary is a wrong guess of the drafting model and refused like any
        // other token.
        let id = token.and_then(|token| self.grammar.vocabulary().id(token.get()));
        match self.accept_token(id.ok_or(DraftRow::Refused)?) {
            Ok(()) => Ok(()),
            Err(error) if error.is_indeterminate() => Err(DraftRow::Failed(error)),
            Err(_) => Err(DraftRow::Refused),
        }
    }
}

/// Marks every node below one.
fn refuse_below(tree: &DraftTree, place: usize, rows: &mut [DraftRow]) {
    let mut stack: Vec<usize> = tree.nodes[place].first_child.into_iter().collect();
    while let Some(place) = stack.pop() {
        rows[place] = DraftRow::Refused;
        stack.extend(tree.nodes[place].first_child);
        stack.extend(tree.nodes[place].next_sibling);
    }
}
