import RandomTestSupport
import Testing

@testable import GeoSearch

@Suite struct SlotTableTests {
    @Test(arguments: [1, 7, 1_000_000])
    func `slots are found even if hashes collide`(hashes: Int) {
        var random = SeededRandom.fresh("\(#function) \(hashes)")
        var table = SlotTable()
        var hashOfSlot: [UInt32: Int] = [:]
        for slot in 0..<2_000 as Range<UInt32> {
            let hash = Int.random(in: 0..<hashes, using: &random) &- 3
            table.insert(slot, hash: hash)
            hashOfSlot[slot] = hash
            guard random.once(in: 2), let (old, hash) = hashOfSlot.randomElement(using: &random) else { continue }
            #expect(table.remove(hash: hash) { $0 == old } == old)
            #expect(table.remove(hash: hash) { $0 == old } == nil)
            hashOfSlot[old] = nil
        }
        for (slot, hash) in hashOfSlot { #expect(table.slot(hash: hash) { $0 == slot } == slot) }
        for (slot, hash) in hashOfSlot { #expect(table.remove(hash: hash) { $0 == slot } == slot) }
        #expect(table.slot(hash: 0) { _ in true } == nil)
    }
}
