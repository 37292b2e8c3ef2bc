/// A tree of lattice points that halves space: a trie of cells, whose leaves are buckets of points.
///
/// A full leaf halves its cell across the axis on which its points lie farthest apart. Cells are halved in the middle
/// and not at a median, so the tree is never deeper than 93 levels and needs no balancing, whatever is inserted in
/// whatever order. A point is found again by walking down to its location, so nothing stores references into the tree.
///
/// Each node stores a bounding box of its points. Cells alone would be too coarse: the ground crosses most of them at
/// an angle, and a city outside the searched circle would seem to reach into it.
struct PointTree {
    /// A point, and the slot of the room at that point.
    struct Entry {
        var point: LatticePoint
        var slot: UInt32
    }

    /// An inner node, which halves its cell, or a leaf, which has entries.
    struct Node {
        /// Inner node: points whose coordinate is less belong to the first child, the others to the second.
        var plane: Int32 = 0
        /// The axis of the plane; nil in a leaf.
        var axis: LatticePoint.Axis?
        /// Inner node: the first child's index, which the second's follows; leaf: its first block.
        var first: UInt32 = PointTree.none
        /// Leaf: the number of its entries.
        var count: UInt32 = 0
        /// A box around all points of the node; it may be too wide after removals.
        var box = LatticeBox()
    }

    /// The number of entries in a block.
    static let blockSize = 64
    /// The block number that stands for no block.
    static let none = UInt32.max

    private(set) var nodes = [Node()]
    /// Entries, in blocks of `blockSize`.
    private(set) var entries: [Entry] = []
    /// The next block of the same leaf, by block.
    ///
    /// Only a leaf whose points are all at one location has more than one block. All of them except the first are full.
    private(set) var nextBlock: [UInt32] = []
    private var freeBlocks: [UInt32] = []
    private var freePairs: [UInt32] = []

    /// The number of entries in the first block of a leaf with `count` entries, at least one.
    static func entriesInFirstBlock(of count: UInt32) -> Int { (Int(count) - 1) % blockSize + 1 }

    /// Adds an entry.
    mutating func insert(_ entry: Entry) {
        var cell = Cell()
        var index = 0
        while true {
            nodes[index].box.include(entry.point)
            if let axis = nodes[index].axis {
                let isSecond = entry.point[axis] >= nodes[index].plane
                cell.halve(axis, at: nodes[index].plane, upper: isSecond)
                index = Int(nodes[index].first) + (isSecond ? 1 : 0)
            } else if nodes[index].count < Self.blockSize || !split(index, cell) {
                append(entry, to: index)
                return
            }
        }
    }

    /// Removes the entry of a slot, which must be at `point`.
    mutating func remove(_ slot: UInt32, at point: LatticePoint) {
        var path: [Int] = []
        var index = 0
        while let axis = nodes[index].axis {
            path.append(index)
            index = Int(nodes[index].first) + (point[axis] >= nodes[index].plane ? 1 : 0)
        }
        take(slot, from: index)
        while let parent = path.popLast(), join(parent) {}
    }

    // Entries of leaves.

    private mutating func append(_ entry: Entry, to leaf: Int) {
        let place = Int(nodes[leaf].count) % Self.blockSize
        if place == 0 {
            nodes[leaf].first = newBlock(before: nodes[leaf].first)
        }
        entries[Int(nodes[leaf].first) * Self.blockSize + place] = entry
        nodes[leaf].count += 1
    }

    /// Removes the entry of a slot from a leaf; the last entry of the leaf's first block takes its place.
    private mutating func take(_ slot: UInt32, from leaf: Int) {
        let first = nodes[leaf].first
        var block = first
        var present = Self.entriesInFirstBlock(of: nodes[leaf].count)
        let last = Int(first) * Self.blockSize + present - 1
        while block != Self.none {
            let start = Int(block) * Self.blockSize
            if let position = (start..<start + present).first(where: { entries[$0].slot == slot }) {
                entries[position] = entries[last]
                nodes[leaf].count -= 1
                if last == Int(first) * Self.blockSize {
                    nodes[leaf].first = nextBlock[Int(first)]
                    freeBlocks.append(first)
                }
                if nodes[leaf].count == 0 { nodes[leaf].box = LatticeBox() }
                return
            }
            block = nextBlock[Int(block)]
            present = Self.blockSize
        }
        preconditionFailure("slot \(slot) is not where it was put")
    }

    private mutating func newBlock(before next: UInt32) -> UInt32 {
        if let block = freeBlocks.popLast() {
            nextBlock[Int(block)] = next
            return block
        }
        let nothing = Entry(point: LatticePoint(corner: 0), slot: Self.none)
        entries.append(contentsOf: repeatElement(nothing, count: Self.blockSize))
        nextBlock.append(next)
        return UInt32(nextBlock.count - 1)
    }

    // Splitting and joining.

    /// Makes a full leaf an inner node with two leaves; false if its box is a single point.
    private mutating func split(_ leaf: Int, _ cell: Cell) -> Bool {
        let old = nodes[leaf]
        guard let axis = old.box.longestAxis else { return false }
        let plane = cell.middle(of: axis)
        let start = Int(old.first) * Self.blockSize
        var (lower, upper) = (Node(), Node())
        // The points of a leaf with more than one block are all at one location, and go to the same side.
        let examined = old.count > Self.blockSize ? 1 : Self.blockSize
        for position in start..<start + examined {
            let point = entries[position].point
            if point[axis] < plane { lower.box.include(point) } else { upper.box.include(point) }
        }
        if upper.box.isEmpty {
            (lower.first, lower.count) = (old.first, old.count)
        } else if lower.box.isEmpty {
            (upper.first, upper.count) = (old.first, old.count)
        } else {
            lower.first = old.first
            upper.first = newBlock(before: Self.none)
            for position in start..<start + Self.blockSize {
                let entry = entries[position]
                if entry.point[axis] < plane {
                    entries[start + Int(lower.count)] = entry
                    lower.count += 1
                } else {
                    entries[Int(upper.first) * Self.blockSize + Int(upper.count)] = entry
                    upper.count += 1
                }
            }
        }
        nodes[leaf].plane = plane
        nodes[leaf].axis = axis
        nodes[leaf].first = newPair(lower, upper)
        nodes[leaf].count = 0
        return true
    }

    /// Makes an inner node a leaf again if its children are leaves that fit into half a block; otherwise returns false.
    private mutating func join(_ node: Int) -> Bool {
        let pair = Int(nodes[node].first)
        let (lower, upper) = (nodes[pair], nodes[pair + 1])
        guard lower.axis == nil, upper.axis == nil else { return false }
        guard lower.count + upper.count <= Self.blockSize / 2 else { return false }
        freePairs.append(UInt32(pair))
        nodes[node] = lower.count == 0 ? upper : lower
        guard lower.count > 0, upper.count > 0 else { return true }
        nodes[node].box.include(upper.box)
        for position in 0..<Int(upper.count) {
            append(entries[Int(upper.first) * Self.blockSize + position], to: node)
        }
        freeBlocks.append(upper.first)
        return true
    }

    private mutating func newPair(_ lower: Node, _ upper: Node) -> UInt32 {
        if let pair = freePairs.popLast() {
            nodes[Int(pair)] = lower
            nodes[Int(pair) + 1] = upper
            return pair
        }
        nodes.append(lower)
        nodes.append(upper)
        return UInt32(nodes.count - 2)
    }
}

/// A cell of the lattice, made by halving larger cells.
private struct Cell {
    /// The corner that belongs to the cell.
    private var start = LatticePoint(corner: -1 << 30)
    /// The opposite corner, which does not belong to the cell.
    private var end = LatticePoint(corner: 1 << 30)

    /// The plane at which the cell is halved next; its sides are powers of two.
    func middle(of axis: LatticePoint.Axis) -> Int32 { start[axis] / 2 + end[axis] / 2 }

    mutating func halve(_ axis: LatticePoint.Axis, at plane: Int32, upper: Bool) {
        if upper { start[axis] = plane } else { end[axis] = plane }
    }
}
