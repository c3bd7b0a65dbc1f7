//! The prefix trie of a vocabulary, laid out for one depth-first walk.
//!
//! The naive way to compute a mask runs the parser over every token. Tokens share prefixes, so a trie does
//! each shared byte once and drops whole subtrees at a byte that the parser refuses. The remaining cost is memory
//! traffic, hence this layout:
//!
//! * nodes are in *pre-order* in one array, so that the walk reads memory forwards. The first child of a node
//!   is the node after it. A refused node is left by a jump to its *skip*, the next node that is not below
//!   it. There is no root node; the walk ends at the end of the array;
//! * a node takes 8 bytes: its byte, its token, its skip and its depth. The depth says where in a stack of
//!   parser states the state *before* the node's byte lies, so the walk needs no counting of returns;
//! * a node without a token carries the number of ids of the vocabulary, one past the last id. A walk whose
//!   scratch mask has one bit more than the vocabulary can set that bit without asking whether there is a
//!   token. The branch would be mispredicted half of the time, and would cost more than the rest of a node.
//!
//! A state reads few of the bytes that tokens continue with after a space or a bracket. Outside of strings,
//! nearly all nodes of a mask were left at once. So the nodes at depth 2 are in a list of their own, with
//! their bytes. A walk looks at the bytes, and goes to the nodes that the state reads.
//!
//! Of ids with equal bytes the node carries the least; the others are in a list of their own
//! ([`duplicates`](Trie::duplicates)). Depths have 8 bits, so tokens of more than 255 bytes are not in the trie;
//! they are in a list too ([`long_tokens`](Trie::long_tokens)) and are tried one by one.

use std::ops::Range;

use crate::ids::TokenId;
use crate::vocabulary::error::VocabularyError;

/// One byte of one or more tokens, after the bytes of the nodes above it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct TrieNode {
    /// Byte in the low 8 bits, token above.
    byte_and_token: u32,
    /// Depth in the low 8 bits, skip above.
    depth_and_skip: u32,
}

impl TrieNode {
    /// A node whose skip is not known yet.
    fn new(byte: u8, token: u32, depth: usize) -> Self {
        Self { byte_and_token: u32::from(byte) | token << 8, depth_and_skip: to_u32(depth) }
    }

    /// The byte that leads to this node.
    #[inline]
    pub const fn byte(self) -> u8 {
        self.byte_and_token as u8
    }

    /// The id of the token that ends here, or [`Trie::no_token`].
    #[inline]
    pub const fn token(self) -> u32 {
        self.byte_and_token >> 8
    }

    /// Number of bytes up to and including this node's: 1 for the first byte of a token.
    #[inline]
    pub const fn depth(self) -> u8 {
        self.depth_and_skip as u8
    }

    /// Index of the next node that is not below this one.
    #[inline]
    pub const fn skip(self) -> u32 {
        self.depth_and_skip >> 8
    }
}

/// A node at depth 2: its byte in the low 8 bits, its index above.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DepthTwoNode(u32);

impl DepthTwoNode {
    #[inline]
    pub(crate) const fn byte(self) -> u8 {
        self.0 as u8
    }

    /// Index of the node.
    #[inline]
    pub(crate) const fn node(self) -> u32 {
        self.0 >> 8
    }
}

/// A prefix trie over some tokens of a vocabulary.
#[derive(Clone, Debug)]
pub struct Trie {
    nodes: Vec<TrieNode>,
    /// For each first byte where its subtree begins, and where its children are in `depth_two`; the last entry tells the
    /// ends.
    first_bytes: Box<[(u32, u32); 257]>,
    /// The nodes at depth 2, in order.
    depth_two: Vec<DepthTwoNode>,
    duplicates: Vec<(TokenId, TokenId)>,
    long_tokens: Vec<TokenId>,
    no_token: u32,
}

impl Trie {
    /// Longest token, in bytes, that is in a trie.
    pub const MAX_DEPTH: usize = u8::MAX as usize;

    /// Most nodes of a trie: skips have 24 bits.
    pub const MAX_NODES: usize = (1 << 24) - 1;

    /// Builds the trie of tokens given in the order of their bytes, equal ones in the order of their ids.
    /// `vocabulary_len` is the number of ids of the vocabulary that they come from. Empty tokens are left out.
    /// Takes time linear in the bytes.
    ///
    /// # Errors
    ///
    /// If the tokens are not in order, an id is not below `vocabulary_len`, or there are too many nodes.
    pub fn from_sorted<'a>(
        vocabulary_len: usize,
        tokens: impl IntoIterator<Item = (TokenId, &'a [u8])>,
    ) -> Result<Self, VocabularyError> {
        Self::from_sorted_at_most(vocabulary_len, 0, tokens)
    }

    /// [`from_sorted`](Self::from_sorted) with memory set aside for a number of nodes. Unused memory is given
    /// back, so a bound that is far too high costs nothing, and a low one only time.
    pub(crate) fn from_sorted_at_most<'a>(
        vocabulary_len: usize,
        nodes: usize,
        tokens: impl IntoIterator<Item = (TokenId, &'a [u8])>,
    ) -> Result<Self, VocabularyError> {
        let no_token = u32::try_from(vocabulary_len)
            .ok()
            .filter(|_| vocabulary_len <= TokenId::MAX_COUNT)
            .ok_or_else(|| VocabularyError::too_many_tokens(vocabulary_len, TokenId::MAX_COUNT))?;
        let mut builder = TrieBuilder::new(no_token, nodes.min(Self::MAX_NODES));
        for (id, bytes) in tokens {
            if id.get() >= no_token {
                return Err(VocabularyError::id_out_of_range("token", id.get(), vocabulary_len));
            }
            builder.add(id, bytes)?;
        }
        Ok(builder.finish())
    }

    /// The trie of some of the tokens. Ids with equal bytes are kept together or not at all.
    ///
    /// Takes time linear in the nodes, and less than half of what building takes: no byte is compared.
    pub(crate) fn part(&self, is_kept: impl Fn(TokenId) -> bool) -> Self {
        let mut builder = TrieBuilder::new(self.no_token, self.nodes.len());
        // The bytes down to the node at hand, and how many of them have a node in the part. Nodes are written when a
        // token below them is kept.
        let mut bytes = [0; Self::MAX_DEPTH];
        let mut written = 0;
        for node in &self.nodes {
            let depth = usize::from(node.depth());
            bytes[depth - 1] = node.byte();
            written = written.min(depth - 1);
            let token = TokenId::new(node.token()).filter(|_| node.token() != self.no_token);
            if token.is_some_and(&is_kept) {
                builder.leave(written);
                for (place, &byte) in bytes[..depth].iter().enumerate().skip(written) {
                    let token = if place + 1 == depth { node.token() } else { self.no_token };
                    builder.push(byte, token, place + 1);
                }
                written = depth;
            }
        }
        let duplicates = self.duplicates.iter().filter(|(one, _)| is_kept(*one));
        builder.trie.duplicates.extend(duplicates);
        builder.trie.long_tokens.extend(self.long_tokens.iter().filter(|&&id| is_kept(id)));
        builder.finish()
    }

    /// The nodes in pre-order, children in the order of their bytes.
    pub fn nodes(&self) -> &[TrieNode] {
        &self.nodes
    }

    /// The nodes of all tokens that begin with a byte, as a range of indices.
    pub fn first_byte(&self, byte: u8) -> Range<u32> {
        self.first_bytes[usize::from(byte)].0..self.first_bytes[usize::from(byte) + 1].0
    }

    /// The children of the node of a first byte, in the order of their bytes.
    pub(crate) fn depth_two(&self, byte: u8) -> &[DepthTwoNode] {
        let (start, end) = (self.first_bytes[usize::from(byte)].1, self.first_bytes[usize::from(byte) + 1].1);
        &self.depth_two[start as usize..end as usize]
    }

    /// The [`TrieNode::token`] of a node at which no token ends: the number of ids of the vocabulary.
    pub fn no_token(&self) -> u32 {
        self.no_token
    }

    /// Pairs of an id that a node carries and another one with the same bytes, ordered by the bytes.
    pub fn duplicates(&self) -> &[(TokenId, TokenId)] {
        &self.duplicates
    }

    /// Tokens of more than [`MAX_DEPTH`](Self::MAX_DEPTH) bytes, ordered by their bytes. None of them is in
    /// the nodes or among the duplicates.
    pub fn long_tokens(&self) -> &[TokenId] {
        &self.long_tokens
    }

    /// The least id among the trie's tokens with these bytes. Long tokens are not looked at.
    pub fn find(&self, bytes: &[u8]) -> Option<TokenId> {
        let found = self.subtree(bytes);
        let node = self.nodes[found.start as usize..found.end as usize].first()?;
        TokenId::new(node.token()).filter(|_| node.token() != self.no_token)
    }

    /// The node that the last of some bytes leads to, and those below it; none where no token begins with the bytes.
    pub(crate) fn subtree(&self, bytes: &[u8]) -> Range<u32> {
        let mut level = bytes.first().map_or(0..0, |&first| self.first_byte(first));
        let mut found = 0..0;
        for &byte in bytes {
            let Some(index) = self.child(level, byte) else { return 0..0 };
            let skip = self.nodes[index as usize].skip();
            (found, level) = (index..skip, index + 1..skip);
        }
        found
    }

    /// Bytes of memory held.
    pub fn memory_usage(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.first_bytes)
            + self.nodes.capacity() * size_of::<TrieNode>()
            + self.depth_two.capacity() * size_of::<DepthTwoNode>()
            + self.duplicates.capacity() * size_of::<(TokenId, TokenId)>()
            + self.long_tokens.capacity() * size_of::<TokenId>()
    }

    /// Ends the subtrees of nodes here.
    fn close(&mut self, left: impl Iterator<Item = u32>) {
        let skip = to_u32(self.nodes.len());
        for node in left {
            self.nodes[node as usize].depth_and_skip |= skip << 8;
        }
    }

    /// The sibling with this byte among those that begin with the first node of `level`.
    pub fn child(&self, level: Range<u32>, byte: u8) -> Option<u32> {
        let mut index = level.start;
        while index < level.end {
            let node = self.nodes[index as usize];
            if node.byte() == byte {
                return Some(index);
            }
            index = node.skip();
        }
        None
    }
}

/// Appends tokens in order. The path to the newest node is a stack; a node's skip is known once the path leaves
/// it.
struct TrieBuilder<'a> {
    trie: Trie,
    path: Vec<u32>,
    /// The bytes of the path.
    path_bytes: &'a [u8],
    previous: Option<(TokenId, &'a [u8])>,
    /// First bytes below this one have their place in the table.
    next_first_byte: usize,
}

impl<'a> TrieBuilder<'a> {
    fn new(no_token: u32, nodes: usize) -> Self {
        let trie = Trie {
            nodes: Vec::with_capacity(nodes),
            first_bytes: Box::new([(0, 0); 257]),
            depth_two: Vec::new(),
            duplicates: Vec::new(),
            long_tokens: Vec::new(),
            no_token,
        };
        Self {
            trie,
            path: Vec::with_capacity(Trie::MAX_DEPTH),
            path_bytes: &[],
            previous: None,
            next_first_byte: 0,
        }
    }

    fn add(&mut self, id: TokenId, bytes: &'a [u8]) -> Result<(), VocabularyError> {
        let before = self.previous.replace((id, bytes));
        // The order of the input is what makes one pass enough, so it is checked and not assumed.
        if before.is_some_and(|before| (before.1, before.0) >= (bytes, id)) {
            return Err(VocabularyError::unsorted_tokens(id));
        }
        if bytes.len() > Trie::MAX_DEPTH {
            self.trie.long_tokens.push(id);
            return Ok(());
        }
        let shared = self.path_bytes.iter().zip(bytes).take_while(|(one, other)| one == other).count();
        if shared < bytes.len() {
            self.leave(shared);
            self.path_bytes = bytes;
            return self.descend(id, bytes, shared);
        }
        // The token is a prefix of the path. Tokens are in order, so it *is* the path, unless it is empty.
        if let Some(&last) = self.path.last().filter(|_| !bytes.is_empty()) {
            let primary = self.trie.nodes[last as usize].token();
            if let Some(primary) = TokenId::new(primary) {
                self.trie.duplicates.push((primary, id));
            }
        }
        Ok(())
    }

    /// Cuts the path down to a depth.
    fn leave(&mut self, depth: usize) {
        self.trie.close(self.path.drain(depth..));
    }

    /// Appends the nodes for `bytes[from..]`, the token at the last.
    fn descend(&mut self, id: TokenId, bytes: &[u8], from: usize) -> Result<(), VocabularyError> {
        // Checked before the nodes are pushed, so that skips always fit into their 24 bits.
        if self.trie.nodes.len() + (bytes.len() - from) > Trie::MAX_NODES {
            return Err(VocabularyError::trie_too_large(Trie::MAX_NODES));
        }
        for (place, &byte) in bytes.iter().enumerate().skip(from) {
            let token = if place + 1 == bytes.len() { id.get() } else { self.trie.no_token };
            self.push(byte, token, place + 1);
        }
        Ok(())
    }

    /// Appends a node below the last one of the path.
    #[inline]
    fn push(&mut self, byte: u8, token: u32, depth: usize) {
        if depth == 1 {
            let here = self.here();
            // First bytes without a token begin and end where the next one begins.
            self.trie.first_bytes[self.next_first_byte..=usize::from(byte)].fill(here);
            self.next_first_byte = usize::from(byte) + 1;
        }
        let node = to_u32(self.trie.nodes.len());
        if depth == 2 {
            self.trie.depth_two.push(DepthTwoNode(u32::from(byte) | node << 8));
        }
        self.path.push(node);
        self.trie.nodes.push(TrieNode::new(byte, token, depth));
    }

    /// Where the next node and the next one at depth 2 will be.
    fn here(&self) -> (u32, u32) {
        (to_u32(self.trie.nodes.len()), to_u32(self.trie.depth_two.len()))
    }

    fn finish(mut self) -> Trie {
        self.leave(0);
        let end = self.here();
        self.trie.first_bytes[self.next_first_byte..].fill(end);
        self.trie.nodes.shrink_to_fit();
        self.trie.depth_two.shrink_to_fit();
        self.trie
    }
}

/// Node counts and depths are at most [`Trie::MAX_NODES`].
fn to_u32(count: usize) -> u32 {
    u32::try_from(count).expect("bounded by the most nodes of a trie, 24 bits")
}
