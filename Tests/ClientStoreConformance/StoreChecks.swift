import RoomClient
import Testing

extension ClientStoreConformance {
    static let roomChecks = [
        ClientStoreCheck("a new store holds nothing") { (test) async throws in
            #expect(try await test.store.load() == StoredClient())
            #expect(try await test.store.room(party) == nil)
            #expect(try await test.restarted().store.load() == StoredClient())
        },
        ClientStoreCheck("rooms are read as they were saved, with every value") { (test) async throws in
            let other = reference("AAAAAA")
            let rooms = [party: room(7, keyed: 3), quiet: room(.max, keyed: nil, size: 0), other: room(0, keyed: 0)]
            for (reference, room) in rooms { try await test.store.save(room, of: reference) }
            for (reference, room) in rooms { #expect(try await test.store.room(reference) == room) }
            let next = try await test.restarted().store
            for (reference, room) in rooms { #expect(try await next.room(reference) == room) }
            #expect(try await next.room(reference("AAAAAB")) == nil)
        },
        ClientStoreCheck("a room takes the place of what was saved of it, whole") { (test) async throws in
            try await test.store.save(room(1, keyed: 9, size: 100_000), of: party)
            try await test.store.save(room(2), of: quiet)
            try await test.store.save(room(3), of: party)
            #expect(try await test.store.room(party) == room(3))
            let next = try await test.restarted().store
            #expect(try await next.room(party) == room(3))
            #expect(try await next.load() == StoredClient(), "a room is no part of it")
        },
        ClientStoreCheck("a removed room is gone, and no other") { (test) async throws in
            try await test.store.save(room(1), of: party)
            try await test.store.save(room(2), of: quiet)
            try await test.store.removeRoom(party)
            try await test.store.removeRoom(reference("AAAAAA"))
            let next = try await test.restarted().store
            #expect(try await next.room(party) == nil)
            #expect(try await next.room(quiet) == room(2))
        },
    ]

    static let outboxChecks = [
        ClientStoreCheck("commands are read as they were put, with every value") { (test) async throws in
            var extreme = command(3, in: quiet.description, sent: ("", 0))
            extreme.expiresAt = .min
            extreme.command = []
            extreme.key = ""
            let commands = [command(1), command(2, sent: ("e", nil)), extreme, command(4, sent: ("é", .max))]
            for command in commands { try await test.store.put(command) }
            let expected = StoredClient(outbox: commands, lastOrdinal: 4)
            #expect(try await test.store.load().sorted == expected)
            #expect(try await test.restarted().store.load().sorted == expected)
        },
        ClientStoreCheck("a command takes the place of what was under its ordinal") { (test) async throws in
            for ordinal in 1...3 { try await test.store.put(command(ordinal)) }
            try await test.store.put(command(2, sent: ("e", 5)))
            let expected = StoredClient(outbox: [command(1), command(2, sent: ("e", 5)), command(3)], lastOrdinal: 3)
            #expect(try await test.restarted().store.load().sorted == expected)
        },
        ClientStoreCheck("an ordinal is remembered after its command is removed") { (test) async throws in
            for ordinal in [5, 2, 9] { try await test.store.put(command(ordinal)) }
            for ordinal in [9, 2, 7] { try await test.store.removeCommand(ordinal) }
            let expected = StoredClient(outbox: [command(5)], lastOrdinal: 9)
            #expect(try await test.store.load() == expected)
            let next = try await test.restarted().store
            #expect(try await next.load() == expected)
            try await next.put(command(6))
            #expect(try await next.load().lastOrdinal == 9)
        },
    ]

    static let tokenChecks = [
        ClientStoreCheck("a token is read as it was set last") { (test) async throws in
            try await test.store.setToken("first")
            #expect(try await test.store.load().token == "first")
            try await test.store.setToken("")
            try await test.store.setToken("zweites – ü")
            #expect(try await test.store.load().token == "zweites – ü")
            #expect(try await test.restarted().store.load().token == "zweites – ü")
        },
        ClientStoreCheck("another token leaves rooms and commands") { (test) async throws in
            try await test.store.setToken("first")
            try await test.store.put(command(1))
            try await test.store.save(room(1), of: party)
            try await test.store.setToken("second")
            let next = try await test.restarted().store
            #expect(try await next.load() == StoredClient(token: "second", outbox: [command(1)], lastOrdinal: 1))
            #expect(try await next.room(party) == room(1))
        },
        ClientStoreCheck("without a token every room and command is forgotten, but no ordinal") { (test) async throws in
            try await test.store.setToken("first")
            try await test.store.put(command(3))
            try await test.store.save(room(1), of: party)
            try await test.store.setToken(nil)
            #expect(try await test.store.load() == StoredClient(lastOrdinal: 3))
            #expect(try await test.store.room(party) == nil)
            let next = try await test.restarted().store
            #expect(try await next.load() == StoredClient(lastOrdinal: 3))
            #expect(try await next.room(party) == nil)
        },
    ]
}
