import RandomTestSupport
import RoomDomain
import RoomTestSupport
import Testing

@Suite struct TrackTableTests {
    @Test func `it equals a dictionary, and its copies keep their contents`() {
        for seed in TestSeed.fixed(0..<20) {
            print("tracks in a table, seed \(seed)")
            var random = SeededRandom(seed: seed)
            var (table, model): (TrackTable, [TrackID: Track]) = (TrackTable(), [:])
            var copy: (table: TrackTable, model: [TrackID: Track]) = (table, model)
            for step in 0..<400 {
                let id = TrackID(rawValue: .random(in: 1...(random.once(in: 2) ? 200 : 100_000), using: &random))
                let track = Track(
                    id: id, info: TrackInfo(source: "s", sourceID: "\(step)", title: "T"), addedBy: 1, votes: step)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: #expect(table.updateValue(nil, forKey: id) == model.removeValue(forKey: id), "seed \(seed)")
                case 1:
                    #expect(table.update(id) { $0.votes += 1 } == (model[id] != nil))
                    model[id]?.votes += 1
                default: #expect(table.updateValue(track, forKey: id) == model.updateValue(track, forKey: id))
                }
                if random.once(in: 20) {
                    #expect(Set(copy.table.values) == Set(copy.model.values), "seed \(seed)")
                    copy = (table, model)
                }
            }
            #expect(table.count == model.count && table.isEmpty == model.isEmpty)
            #expect(Set(table.values) == Set(model.values), "seed \(seed)")
            #expect(model.keys.allSatisfy { table[$0] == model[$0] })
            for first in [nil, 1, 63, 64, 100, 100_000] as [TrackID?] {
                let expected = model.keys.filter { id in first.map { $0 < id } ?? true }.sorted()
                #expect(Array(table.ids(after: first)) == expected, "seed \(seed)")
            }
        }
    }
}
