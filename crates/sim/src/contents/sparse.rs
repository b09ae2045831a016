//! A sparse store: a tree of 32 branches at each node, pages of 4 KiB at its leaves.
//!
//! A subtree that holds one repeated byte is that byte, whatever its size: nothing is kept of what was never
//! written, and a random write costs its page and at most 7 nodes on the way to it for 128 TiB.

use std::ops::Range;

pub(super) const PAGE: usize = 4096;
const BRANCHES: usize = 32;
const NODE: u64 = (BRANCHES * size_of::<Node>()) as u64;

enum Node {
    Fill(u8),
    Page(Box<[u8; PAGE]>),
    Inner(Box<[Node; BRANCHES]>),
}

pub(super) struct Sparse {
    root: Node,
    /// How many levels of nodes are above the pages.
    height: u32,
    memory: Memory,
}

struct Memory {
    used: u64,
    limit: u64,
}

pub(super) struct NoMemory;

impl Memory {
    fn take(&mut self, bytes: u64) -> Result<(), NoMemory> {
        if self.used + bytes > self.limit {
            return Err(NoMemory);
        }
        self.used += bytes;
        debug_assert!(self.used <= self.limit, "memory has a limit");
        Ok(())
    }
}

impl Sparse {
    /// Zeros, as many as `capacity_bytes`, of which at most `limit_bytes` of memory may be used.
    pub(super) fn new(capacity_bytes: u64, limit_bytes: u64) -> Sparse {
        let mut height = 0;
        while span(height) < capacity_bytes {
            height += 1;
        }
        Sparse { root: Node::Fill(0), height, memory: Memory { used: 0, limit: limit_bytes } }
    }

    pub(super) fn used_bytes(&self) -> u64 {
        self.memory.used
    }

    pub(super) fn limit_bytes(&self) -> u64 {
        self.memory.limit
    }

    pub(super) fn limit(&mut self, limit_bytes: u64) {
        self.memory.limit = limit_bytes;
    }

    pub(super) fn read(&self, offset_bytes: u64, into: &mut [u8]) {
        read(&self.root, self.height, offset_bytes, into);
    }

    /// Stores as much from the start of `data` as there is memory for; how much that was, and whether it was all.
    pub(super) fn write(&mut self, offset_bytes: u64, data: &[u8]) -> (usize, Result<(), NoMemory>) {
        let mut stored = 0;
        let result = write(&mut self.root, self.height, offset_bytes, data, &mut self.memory, &mut stored);
        (stored, result)
    }

    /// Zeros all whole pages of the stretch. What finds no memory for the nodes around it stays.
    pub(super) fn discard(&mut self, offset_bytes: u64, length_bytes: u64) {
        let page = PAGE as u64;
        let end = offset_bytes.saturating_add(length_bytes).min(span(self.height)) / page * page;
        let first = offset_bytes.div_ceil(page).saturating_mul(page);
        if first < end {
            clear(&mut self.root, self.height, first..end, &mut self.memory);
        }
    }
}

/// How much lies under a node of that height; the whole 64 bits when that is more.
fn span(height: u32) -> u64 {
    (PAGE as u64).saturating_mul((BRANCHES as u64).saturating_pow(height))
}

/// The pieces of `length` bytes from `offset` in a node, child by child: which child, where in it, which of the bytes.
fn pieces(height: u32, offset: u64, length: usize) -> impl Iterator<Item = (usize, u64, Range<usize>)> {
    let child_span = span(height - 1);
    let mut at = 0;
    std::iter::from_fn(move || {
        let here = offset + at as u64;
        let size = (child_span - here % child_span).min((length - at) as u64) as usize;
        at += size;
        if size > 0 { Some(((here / child_span) as usize, here % child_span, at - size..at)) } else { None }
    })
}

fn read(node: &Node, height: u32, offset: u64, into: &mut [u8]) {
    match node {
        Node::Fill(byte) => into.fill(*byte),
        Node::Page(page) => into.copy_from_slice(&page[offset as usize..][..into.len()]),
        Node::Inner(children) => {
            for (child, offset, part) in pieces(height, offset, into.len()) {
                read(&children[child], height - 1, offset, &mut into[part]);
            }
        }
    }
}

fn write(
    node: &mut Node,
    height: u32,
    offset: u64,
    data: &[u8],
    memory: &mut Memory,
    stored: &mut usize,
) -> Result<(), NoMemory> {
    if matches!(node, Node::Fill(byte) if repeats(data, *byte)) {
        *stored += data.len();
        return Ok(());
    }
    if height == 0 {
        write_page(node, offset as usize, data, memory)?;
        *stored += data.len();
        return Ok(());
    }
    let children = open(node, memory)?;
    let result = pieces(height, offset, data.len()).try_for_each(|(child, offset, part)| {
        write(&mut children[child], height - 1, offset, &data[part], memory, stored)
    });
    close(node, memory);
    result
}

fn write_page(node: &mut Node, offset: usize, data: &[u8], memory: &mut Memory) -> Result<(), NoMemory> {
    if data.len() == PAGE && repeats(data, data[0]) {
        forget(node, memory);
        *node = Node::Fill(data[0]);
        return Ok(());
    }
    if let Node::Fill(byte) = *node {
        memory.take(PAGE as u64)?;
        *node = Node::Page(match <[u8; PAGE]>::try_from(data) {
            Ok(page) => Box::new(page),
            Err(_) => Box::new([byte; PAGE]),
        });
        if data.len() == PAGE {
            return Ok(());
        }
    }
    if let Node::Page(page) = node {
        page[offset..offset + data.len()].copy_from_slice(data);
        let first = page[0];
        if repeats(page.as_slice(), first) {
            forget(node, memory);
            *node = Node::Fill(first);
        }
    }
    Ok(())
}

fn clear(node: &mut Node, height: u32, stretch: Range<u64>, memory: &mut Memory) {
    if matches!(node, Node::Fill(0)) {
        return;
    }
    if stretch == (0..span(height)) {
        forget(node, memory);
        *node = Node::Fill(0);
        return;
    }
    let Ok(children) = open(node, memory) else { return };
    let child_span = span(height - 1);
    let mut first = stretch.start;
    while first < stretch.end {
        let start = first / child_span * child_span;
        let end = (start + child_span).min(stretch.end);
        clear(&mut children[(first / child_span) as usize], height - 1, first - start..end - start, memory);
        first = end;
    }
    close(node, memory);
}

fn open<'node>(node: &'node mut Node, memory: &mut Memory) -> Result<&'node mut [Node; BRANCHES], NoMemory> {
    if let Node::Fill(byte) = *node {
        memory.take(NODE)?;
        *node = Node::Inner(Box::new(std::array::from_fn(|_| Node::Fill(byte))));
    }
    match node {
        Node::Inner(children) => Ok(children),
        Node::Fill(_) | Node::Page(_) => unreachable!("pages are at height 0 only, and a fill was opened"),
    }
}

fn close(node: &mut Node, memory: &mut Memory) {
    let Node::Inner(children) = node else { return };
    let Node::Fill(first) = children[0] else { return };
    if children.iter().all(|child| matches!(child, Node::Fill(byte) if *byte == first)) {
        debug_assert!(memory.used >= NODE, "what is given back was taken");
        memory.used -= NODE;
        *node = Node::Fill(first);
    }
}

fn forget(node: &Node, memory: &mut Memory) {
    match node {
        Node::Fill(_) => {}
        Node::Page(_) => memory.used -= PAGE as u64,
        Node::Inner(children) => {
            children.iter().for_each(|child| forget(child, memory));
            memory.used -= NODE;
        }
    }
}

fn repeats(data: &[u8], byte: u8) -> bool {
    // Bytes that equal those one before them are all the same. A comparison of memory is ten times as fast as a loop.
    data.first().is_none_or(|first| *first == byte)
        && data.get(1..).is_none_or(|after| *after == data[..after.len()])
}
