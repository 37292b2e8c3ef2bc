import Testing

@testable import GeoSearch

extension NearbyIndex {
    /// Records violations of the tree's invariants.
    func checkInvariants() {
        let tree = self.tree
        var (seen, blocks) = (Set<UInt32>(), 0)
        tree.walk { node, _ in
            guard node.axis == nil else { return }
            let points = tree.entries(of: node).map(\.point)
            #expect(points.count == Int(node.count))
            #expect(points.isEmpty == node.box.isEmpty)
            #expect(points.allSatisfy { node.box.squaredChord(from: $0) == 0 })
            // More than one block only if no halving would separate the points.
            #expect(points.count <= PointTree.blockSize || points.allSatisfy { $0 == points.first })
            seen.formUnion(tree.entries(of: node).map(\.slot))
            blocks += (points.count + PointTree.blockSize - 1) / PointTree.blockSize
        }
        #expect(seen.count == count)
        #expect(blocks <= tree.nextBlock.count)
    }

    /// The number of nodes above the deepest leaf.
    var depth: Int {
        var deepest = 0
        tree.walk { _, depth in deepest = max(deepest, depth) }
        return deepest
    }
}

extension PointTree {
    /// The entries of a leaf.
    fileprivate func entries(of leaf: Node) -> [Entry] {
        var (found, block, present) = ([Entry](), leaf.first, PointTree.entriesInFirstBlock(of: leaf.count))
        while block != PointTree.none {
            found += entries[Int(block) * PointTree.blockSize..<Int(block) * PointTree.blockSize + present]
            (block, present) = (nextBlock[Int(block)], PointTree.blockSize)
        }
        return found
    }

    /// Visits every node with its depth.
    fileprivate func walk(_ visit: (Node, Int) -> Void) {
        var waiting = [(index: 0, depth: 0)]
        while let (index, depth) = waiting.popLast() {
            visit(nodes[index], depth)
            guard nodes[index].axis != nil else { continue }
            let first = Int(nodes[index].first)
            waiting += [(first, depth + 1), (first + 1, depth + 1)]
        }
    }
}
