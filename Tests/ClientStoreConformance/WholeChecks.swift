import RandomTestSupport
import RoomClient
import Testing

extension ClientStoreConformance {
    static let wholeChecks = [
        ClientStoreCheck("a call takes effect although its task is cancelled") { (test) async throws in
            for ordinal in 1...20 {
                let task = Task {
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    try await test.store.put(command(ordinal))
                    try await test.store.save(room(ordinal), of: party)
                    try await test.store.setToken("\(ordinal)")
                }
                try await task.value
            }
            let next = try await test.restarted().store
            let loaded = try await next.load()
            #expect(loaded.outbox.count == 20)
            #expect(loaded.token == "20")
            #expect(try await next.room(party) == room(20))
        },
        ClientStoreCheck("calls from many tasks at once all take effect") { (test) async throws in
            try await withThrowingTaskGroup { group in
                for ordinal in 1...100 {
                    group.addTask {
                        try await test.store.put(command(ordinal))
                        if ordinal.isMultiple(of: 2) { try await test.store.removeCommand(ordinal) }
                    }
                }
                try await group.waitForAll()
            }
            let loaded = try await test.restarted().store.load()
            #expect(loaded.sorted == StoredClient(outbox: (0..<50).map { command($0 * 2 + 1) }, lastOrdinal: 100))
        },
        ClientStoreCheck("after any calls a store holds what a plain table would") { (test) async throws in
            var random = SeededRandom.fresh("any calls to a store")
            var test = test
            var client = StoredClient()
            var rooms: [RoomReference: StoredRoom] = [:]
            let references = [party, quiet, reference("AAAAAA")]
            for step in 0..<300 {
                let reference = random.pick(references, or: party)
                let ordinal = Int.random(in: 1...20, using: &random)
                switch Int.random(in: 0..<14, using: &random) {
                case 0..<5:
                    let new = command(ordinal, sent: random.once(in: 2) ? ("e", step) : nil)
                    try await test.store.put(new)
                    client.outbox.removeAll { $0.ordinal == ordinal }
                    client.outbox.append(new)
                    client.lastOrdinal = max(client.lastOrdinal, ordinal)
                case 5..<8:
                    try await test.store.removeCommand(ordinal)
                    client.outbox.removeAll { $0.ordinal == ordinal }
                case 8..<11:
                    let new = room(step, keyed: random.once(in: 2) ? step : nil)
                    try await test.store.save(new, of: reference)
                    rooms[reference] = new
                case 11:
                    try await test.store.removeRoom(reference)
                    rooms[reference] = nil
                case 12:
                    let token = random.once(in: 6) ? nil : "\(step)"
                    try await test.store.setToken(token)
                    if token == nil { (client.outbox, rooms) = ([], [:]) }
                    client.token = token
                default:
                    if random.once(in: 3) { test = try await test.restarted() }
                }
                #expect(try await test.store.load().sorted == client.sorted)
                for reference in references {
                    #expect(try await test.store.room(reference) == rooms[reference])
                }
            }
        },
    ]
}
