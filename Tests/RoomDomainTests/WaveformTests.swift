import RoomDomain
import RoomTestSupport
import Testing

@Suite struct WaveformTests {
    private let songs = RoomScenario.given(
        RoomScenario.songs + [.tracksAdded(tracks: [NumberedTrack(id: 5, info: .titled("Mine"))], by: 3)])
    private let one = Waveform.samples[0]
    private let two = Waveform.samples[1]
    private let three = Waveform.samples[2]

    private func set(_ track: TrackID, _ waveform: Waveform) -> RoomCommand {
        .setWaveform(track: track, waveform: waveform)
    }

    // MARK: Bytes and names

    @Test func `a waveform has 2,048 bytes, and its text 2,731 characters`() throws {
        #expect(Waveform(data: []) == nil)
        #expect(Waveform(data: Array(repeating: 0, count: 2_047)) == nil)
        #expect(Waveform(data: Array(repeating: 0, count: 2_049)) == nil)
        let waveform = try #require(Waveform(data: (0..<2_048).map { UInt8($0 % 256) }))
        #expect(waveform.text.utf8.count == 2_731)
        #expect(Waveform(text: waveform.text) == waveform)
        // Unused bits of the last character are zero: there is one text for each waveform.
        let zeros = String(repeating: "A", count: 2_730)
        for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
            let isWhole = "AEIMQUYcgkosw048".contains(last)
            #expect((Waveform(text: zeros + String(last)) != nil) == isWhole, "\(last)")
        }
        for text in [zeros, zeros + "AA", zeros + "=", zeros + "+", zeros + "é", " " + zeros] {
            #expect(Waveform(text: text) == nil)
        }
    }

    @Test func `a name is the start of the hash, in 22 characters, and has one text`() throws {
        let waveform = try #require(Waveform(data: (0..<2_048).map { UInt8($0 % 256) }))
        // Computed with another implementation.
        #expect(waveform.name.description == "EPw8UaFS6Q5bkDGbYB2SzA")
        #expect(WaveformName("EPw8UaFS6Q5bkDGbYB2SzA") == waveform.name)
        for text in [
            "", "EPw8UaFS6Q5bkDGbYB2Sz", "EPw8UaFS6Q5bkDGbYB2SzAA", "EPw8UaFS6Q5bkDGbYB2SzB", "EPw8UaFS6Q5bkDGbYB2Sz=",
        ] {
            #expect(WaveformName(text) == nil, "\(text)")
        }
        #expect(Set(Waveform.samples.map(\.name)).count == Waveform.samples.count)
    }

    /// FIPS 180-4 and its examples.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func `published vectors of the hash are met`(_ message: String, _ hash: String) {
        #expect(hex(SHA256.hash(Array(message.utf8))) == hash)
    }

    /// Computed with another implementation: lengths around the padding's change from one block to two.
    @Test(arguments: [
        (54, "a3f01b6939256127582ac8ae9fb47a382a244680806a3f613a118851c1ca1d47"),
        (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
        (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
        (57, "f13b2d724659eb3bf47f2dd6af1accc87b81f09f59f2b75e5c0bed6589dfe8c6"),
        (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
        (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
        (65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"),
        (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
        (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
        (128, "6836cf13bac400e9105071cd6af47084dfacad4e5e302c94bfed24e013afb73e"),
        (2048, "b2a3a502fdfc34f4e3edfa94b7f3109cd972d87a4fec63ab21a6673379ccf7ad"),
    ])
    func `every length around a block is padded right`(_ length: Int, _ hash: String) {
        #expect(hex(SHA256.hash(Array(repeating: 0x61, count: length))) == hash)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    // MARK: The rule

    @Test func `the owner and a DJ set a track's waveform, and get its name back`() {
        let event = RoomEvent.waveformSet(track: 2, waveform: one.name, by: 2)
        let room = songs.when(set(2, one), by: .bob, then: event).room
        #expect(room.tracks[2]?.waveform == one.name)
        #expect(room.result(of: set(2, one), by: .bob, causing: [event]) == .waveform(one.name))
        #expect(room.result(of: set(2, one), by: .bob, causing: []) == .waveform(one.name))
        songs.when(set(5, one), by: .ana, then: .waveformSet(track: 5, waveform: one.name, by: 1))
    }

    @Test func `a guest sets the waveforms of tracks that it added, and of no others`() {
        songs.when(set(5, one), by: .cyd, then: .waveformSet(track: 5, waveform: one.name, by: 3))
        songs.refuses(set(1, one), by: .cyd, with: .forbidden)
        songs.refuses(set(5, one), by: .dan, with: .forbidden)
        songs.refuses(set(9, one), by: .cyd, with: .notFound)
        songs.refuses(set(9, one), by: .ana, with: .notFound)
        // Somebody who joins again is another member.
        let again = songs.after(.leave, by: .cyd).after(.join(name: nil), by: .cyd)
        again.refuses(set(5, one), by: .cyd, with: .forbidden)
    }

    @Test func `the same waveform again changes nothing, however often`() {
        var scenario = songs.after(set(5, one), by: .cyd)
        for _ in 0..<20 { scenario = scenario.changesNothing(set(5, one), by: .cyd) }
        scenario.changesNothing(set(5, one), by: .bob)
        scenario.when(set(4, one), by: .bob, then: .waveformSet(track: 4, waveform: one.name, by: 2))
    }

    @Test func `guests set a track's waveform twice in an hour`() throws {
        let twice = songs.after(set(5, one), by: .cyd).after(set(5, two), by: .cyd, after: 60_000)
        twice.refuses(set(5, three), by: .cyd, with: .rateLimited)
        #expect(
            throws: RoomRefusal.rateLimited(
                "a track's waveform is set at most 2 times in an hour", retryAfterMs: 3_540_000)
        ) {
            try twice.room.decide(set(5, three), by: .cyd, at: twice.room.lastEventAt)
        }
        // The owner and DJs are counted apart, and tracks one by one.
        twice.when(set(5, three), by: .bob, then: .waveformSet(track: 5, waveform: three.name, by: 2))
        twice.refuses(set(5, three), by: .cyd, after: 3_539_999, with: .rateLimited)
        twice.when(
            set(5, three), by: .cyd, after: 3_540_000, then: .waveformSet(track: 5, waveform: three.name, by: 3))
    }

    @Test func `the owner and DJs together set a track's waveform ten times in an hour`() {
        var scenario = songs
        for turn in 0..<10 { scenario = scenario.after(set(2, [one, two][turn % 2]), by: [.ana, .bob][turn % 2]) }
        for actor in [Actor.ana, .bob] { scenario.refuses(set(2, one), by: actor, with: .rateLimited) }
        scenario.changesNothing(set(2, two))
        scenario.when(set(3, one), then: .waveformSet(track: 3, waveform: one.name, by: 1))
        var later = scenario.after(set(2, one), after: 3_600_000)
        for turn in 0..<9 { later = later.after(set(2, [two, one][turn % 2])) }
        later.refuses(set(2, one), with: .rateLimited)
    }

    // MARK: The fold

    @Test func `a waveform that no track has any more is known, and only then`() throws {
        let room = songs.after(set(1, one)).after(set(2, one)).after(set(3, two)).room
        #expect(room.waveformNames == [one.name, two.name])
        func taken(by command: RoomCommand) throws -> Set<WaveformName> {
            let events = try room.decide(command, by: .ana, at: room.lastEventAt)
            let taken = room.waveforms(takenBy: events)
            var after = room
            for event in room.recorded(events, at: room.lastEventAt) { after.evolve(event) }
            return after.unnamedWaveforms(among: taken)
        }
        #expect(try taken(by: set(1, two)) == [])
        #expect(try taken(by: set(3, one)) == [two.name])
        #expect(try taken(by: .removeTracks([1])) == [])
        #expect(try taken(by: .removeTracks([1, 2])) == [one.name])
        #expect(try taken(by: .removeTracks([1, 2, 3])) == [one.name, two.name])
        #expect(try taken(by: .vote(track: 1)) == [])
    }

    @Test func `an event of a track that is not there changes nothing`() {
        var room = songs.room
        let before = room
        for recorded in room.recorded([.waveformSet(track: 99, waveform: one.name, by: 1)], at: room.lastEventAt) {
            room.evolve(recorded)
        }
        #expect(room.tracks == before.tracks)
        #expect(room.seq == before.seq + 1)
    }

    @Test func `a forgotten room keeps its waveforms, which name nobody`() {
        let room = songs.after(set(5, one), by: .cyd).after(.closeRoom(forget: true)).room
        #expect(room.waveformNames == [one.name])
        let event = RoomEvent.waveformSet(track: 5, waveform: one.name, by: 3)
        #expect(event.withoutPersonalData == event)
    }
}
