extension PointTree {
    /// A point that may be among the nearest.
    struct Candidate {
        /// The square of the chord to it from the search's origin.
        var squaredChord: UInt64
        var slot: UInt32
    }

    /// Returns every point that may be among the `count` nearest to `origin`, in no particular order, and few others.
    ///
    /// Points beyond `bound` are left out. ``SquaredChord`` cannot order points whose chords are almost equal; their
    /// distances must decide which are the nearest.
    ///
    /// Nodes are visited nearest first: the search walks down to the nearest leaf of each node and records the nodes
    /// that it passes, until no recorded node can contain a nearer point than those found. The work therefore depends
    /// on `count` and the depth, and not on the number of points within the bound.
    func candidates(near origin: LatticePoint, within bound: UInt64, count: Int) -> ArraySlice<Candidate> {
        var found = Nearest(count: count, bound: bound)
        var waiting = Frontier()
        var index = 0
        while true {
            descent: while nodes[index].axis != nil {
                let first = Int(nodes[index].first)
                var near = (index: first, chord: nodes[first].box.squaredChord(from: origin))
                var far = (index: first + 1, chord: nodes[first + 1].box.squaredChord(from: origin))
                if far.chord < near.chord { swap(&near, &far) }
                if far.chord <= found.bound { waiting.push(far.index, at: far.chord) }
                guard near.chord <= found.bound else { break descent }
                index = near.index
            }
            if nodes[index].axis == nil { scan(nodes[index], near: origin, into: &found) }
            guard let next = waiting.pop(), !found.isComplete(before: next.squaredChord) else { return found.all() }
            index = next.node
        }
    }

    /// Records the points of a leaf that are within the bound.
    private func scan(_ leaf: Node, near origin: LatticePoint, into found: inout Nearest) {
        guard leaf.count > 0 else { return }
        var block = leaf.first
        var present = Self.entriesInFirstBlock(of: leaf.count)
        while block != Self.none {
            let start = Int(block) * Self.blockSize
            found.reserve(Self.blockSize)
            for position in start..<start + present {
                let entry = entries[position]
                found.offer(Candidate(squaredChord: entry.point.squaredChord(to: origin), slot: entry.slot))
            }
            block = nextBlock[Int(block)]
            present = Self.blockSize
        }
    }
}

/// Nodes that a search has passed, nearest first: a binary heap.
private struct Frontier {
    /// A node, and the square of the chord to its box.
    private struct Waiting {
        let squaredChord: UInt64
        let node: Int
    }

    private var heap: [Waiting] = []

    init() { heap.reserveCapacity(96) }

    mutating func push(_ node: Int, at squaredChord: UInt64) {
        let waiting = Waiting(squaredChord: squaredChord, node: node)
        heap.append(waiting)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard squaredChord < heap[parent].squaredChord else { break }
            heap[child] = heap[parent]
            child = parent
        }
        heap[child] = waiting
    }

    mutating func pop() -> (node: Int, squaredChord: UInt64)? {
        guard let last = heap.popLast() else { return nil }
        guard let nearest = heap.first else { return (last.node, last.squaredChord) }
        var parent = 0
        while true {
            var child = parent * 2 + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, heap[child + 1].squaredChord < heap[child].squaredChord { child += 1 }
            guard heap[child].squaredChord < last.squaredChord else { break }
            heap[parent] = heap[child]
            parent = child
        }
        heap[parent] = last
        return (nearest.node, nearest.squaredChord)
    }
}

/// The nearest points so far, and points that may be equally near.
private struct Nearest {
    /// The bound beyond which no point is among the nearest.
    private(set) var bound: UInt64
    private let wanted: Int
    private var found: [PointTree.Candidate]
    private var count = 0

    init(count: Int, bound: UInt64) {
        wanted = count
        self.bound = bound
        let nothing = PointTree.Candidate(squaredChord: 0, slot: 0)
        found = Array(repeating: nothing, count: 2 * count + 2 * PointTree.blockSize)
    }

    /// Makes room for `more` points by dropping points that are not among the nearest.
    mutating func reserve(_ more: Int) {
        guard count + more > found.count else { return }
        narrow()
        // If many points are equally near, all of them are kept.
        if count + more > found.count / 4 * 3 {
            let nothing = PointTree.Candidate(squaredChord: 0, slot: 0)
            found += repeatElement(nothing, count: max(more, found.count))
        }
    }

    /// Records a point that is within the bound; there must be room for it.
    mutating func offer(_ candidate: PointTree.Candidate) {
        found[count] = candidate
        count &+= candidate.squaredChord <= bound ? 1 : 0
    }

    /// Whether enough points are certainly nearer than `squaredChord`.
    func isComplete(before squaredChord: UInt64) -> Bool {
        guard squaredChord <= bound else { return true }
        guard count >= wanted, let certain = SquaredChord.lowerBound(of: squaredChord) else { return false }
        var nearer = 0
        for position in 0..<count where found[position].squaredChord <= certain { nearer &+= 1 }
        return nearer >= wanted
    }

    /// Returns the nearest points and those that may be equally near.
    mutating func all() -> ArraySlice<PointTree.Candidate> {
        narrow()
        return found[..<count]
    }

    /// Lowers the bound to the last of the nearest points, plus the margin, and drops the points beyond it.
    private mutating func narrow() {
        guard count > wanted else { return }
        bound = min(bound, SquaredChord.upperBound(of: select()))
        var kept = 0
        for position in 0..<count {
            let candidate = found[position]
            found[kept] = candidate
            kept &+= candidate.squaredChord <= bound ? 1 : 0
        }
        count = kept
    }

    /// Returns the squared chord of the last of the nearest, by Hoare's selection with the median of three.
    private mutating func select() -> UInt64 {
        var (low, high) = (0, count - 1)
        let place = wanted - 1
        while low < high {
            let (a, b, c) = (
                found[low].squaredChord, found[(low + high) / 2].squaredChord, found[high].squaredChord
            )
            let pivot = max(min(a, b), min(max(a, b), c))
            var (left, right) = (low, high)
            while left <= right {
                while found[left].squaredChord < pivot { left += 1 }
                while found[right].squaredChord > pivot { right -= 1 }
                if left <= right {
                    found.swapAt(left, right)
                    left += 1
                    right -= 1
                }
            }
            if place <= right { high = right } else if place >= left { low = left } else { break }
        }
        return found[place].squaredChord
    }
}
