import GeoSearch
import RoomDomain
import RoomWire
import Testing

@Suite struct FingerprintTests {
    @Test func `fingerprints are what they have always been`() throws {
        let known: [(RoomCommand, Int64)] = [
            (.skip, 2_047_172_839_693_487_726),
            (.vote(track: Sample.track(7)), 6_085_102_606_443_520_758),
            (.join(name: nil), 4_981_859_276_030_758_687),
            (.join(name: "Ana"), 6_586_526_187_078_469_719),
            (.addTracks([Sample.beta]), 7_962_792_903_861_460_230),
            (.closeRoom, 3_400_992_964_029_599_539),
            (.closeRoom(forget: true), -3_923_400_013_167_160_842),
            (.setRole(member: Sample.member(2), role: .dj), -8_833_521_785_945_310_952),
            (.transferOwnership(member: Sample.member(2)), 5_146_772_241_542_313_834),
            (.kick(member: Sample.member(2), ban: true, note: nil), 4_830_525_152_700_730_536),
            (.kick(member: Sample.member(2), ban: true, note: "too loud"), 4_214_240_733_561_798_257),
            (.kick(members: [Sample.member(2)], ban: true, note: "too loud"), 4_214_240_733_561_798_257),
            (.unban(member: Sample.member(2)), -2_951_861_919_591_988_070),
            (.updateRoom(RoomUpdate()), -4_452_106_994_585_353_457),
            (.leave, -5_541_712_905_181_704_001),
            (.rename(name: "Bobby"), -6_915_565_988_512_586_622),
            (.removeTracks([Sample.track(7), Sample.track(8)]), -2_726_692_910_579_040_140),
            (.setWaveform(track: Sample.track(7), waveform: Sample.waveform), -3_866_947_074_740_460_534),
            (.unvote(track: Sample.track(7)), -3_004_990_577_108_676_241),
            (.enqueue(track: Sample.track(7), index: nil), 7_916_740_925_971_041_729),
            (.enqueue(track: Sample.track(7), index: 0), 4_806_434_457_500_031_438),
            (.dequeue(entry: Sample.entry(9)), 658_766_395_204_924_577),
            (.move(entry: Sample.entry(9), index: 3), 7_421_740_780_497_773_066),
            (.play(entry: nil), -3_236_358_157_958_186_219),
            (.play(entry: Sample.entry(9)), -7_244_259_378_816_871_221),
            (.pause, 1_411_440_988_870_156_978),
            (.resume, 7_712_683_669_524_034_872),
            (.seek(positionMs: 61_000), 2_252_413_749_022_924_571),
            (.finish(entry: Sample.entry(9)), 5_663_035_916_907_879_173),
            (.voteSkip(entry: Sample.entry(9)), 296_506_250_390_062_979),
            (.setDuration(track: Sample.track(7), durationMs: 61_500), 3_183_959_029_798_082_929),
            (.setMissing([Sample.track(7), Sample.track(9)]), -4_947_728_631_663_374_597),
            (.pause(entry: Sample.entry(9)), -4_601_777_389_143_618_485),
            (.resume(entry: Sample.entry(9)), 8_451_473_528_992_391_161),
            (.seek(positionMs: 61_000, entry: Sample.entry(9)), 5_252_978_270_689_035_226),
            (.skip(entry: Sample.entry(9)), -3_886_396_523_712_350_025),
            (.unvoteSkip(entry: Sample.entry(9)), -9_207_711_692_403_373_694),
            (.syncDeck(Deck(queue: [], playback: .stopped)), 267_279_461_342_026_225),
            (.countSkipVotes, 5_717_967_070_899_787_974),
            (.replaceOwner(Sample.member(1)), -2_859_080_459_878_086_909),
            (.endMembership(session: Sample.session(1), reason: .sessionEnded), -2_186_286_421_328_172_606),
        ]
        for (command, fingerprint) in known { #expect(CommandJSON.fingerprint(command) == fingerprint, "\(command)") }
        #expect(Set(known.map(\.0.kind)) == Set(RoomCommand.Kind.allCases))
    }

    @Test func `commands that differ have fingerprints that differ`() {
        var others: [RoomCommand] = [
            .join(name: ""), .rename(name: "Ana"), .vote(track: Sample.track(8)),
            .setRole(member: Sample.member(2), role: .guest),
            .kick(member: Sample.member(2), ban: true, note: nil),
            .kick(member: Sample.member(2), ban: false, note: "too loud"),
            .kick(members: [Sample.member(3), Sample.member(2)], ban: false, note: nil),
            .kick(members: [], ban: false, note: nil),
            .removeTracks([Sample.track(8), Sample.track(7)]), .removeTracks([]), .addTracks([]),
            .enqueue(track: Sample.track(7), index: 1), .play(entry: Sample.entry(1)), .seek(positionMs: 61_001),
            .seek(positionMs: 61_000, entry: Sample.entry(8)), .skip(entry: Sample.entry(8)),
            .setDuration(track: Sample.track(7), durationMs: 61_501), .setMissing([Sample.track(9), Sample.track(7)]),
            .endMembership(session: Sample.session(1), reason: .expired),
            .endMembership(session: Sample.session(2), reason: .expired),
            .endMembership(session: Sample.session(1), reason: .sessionEnded),
        ]
        // The same letters, split differently.
        for (source, id) in [("ab", "c"), ("a", "bc"), ("", "abc")] {
            others.append(.addTracks([TrackInfo(source: source, sourceID: id, title: "t")]))
        }
        others.append(.addTracks([TrackInfo(source: "a", sourceID: "bc", title: "t", artist: "x")]))
        others.append(.addTracks([TrackInfo(source: "a", sourceID: "bc", title: "t", album: "x")]))
        others.append(.addTracks([TrackInfo(source: "a", sourceID: "bc", title: "t", durationMs: 0)]))
        others += Self.decks.map(RoomCommand.syncDeck)
        let all = Sample.commands.map(\.command) + others
        #expect(Set(all.map(CommandJSON.fingerprint)).count == all.count)
    }

    /// Decks that differ in one value each.
    private static var decks: [Deck] {
        func played(
            _ item: Deck.Item = .track(Sample.track(7)), _ startedAt: Int64 = 3, _ playedMs: Int64 = 1_000,
            _ reason: FinishReason = .ended, endedAt: Int64? = nil
        ) -> Deck.Played {
            Deck.Played(
                item: item, startedAt: Sample.time(startedAt), playedMs: playedMs, reason: reason,
                endedAt: endedAt.map { Sample.time($0) })
        }
        let heard = [
            [played()], [played(.entry(Sample.entry(7)))], [played(.track(Sample.track(8)))],
            [played(.track(Sample.track(7)), 4)], [played(.track(Sample.track(7)), 3, 1_001)],
            [played(.track(Sample.track(7)), 3, 1_000, .skipped)], [played(endedAt: 4)], [played(endedAt: 5)],
            [played(), played()],
        ]
        func onAir(_ startedAt: Int64?, _ playedMs: Int64?) -> Deck.Playback {
            .onAir(
                .track(Sample.track(7)), isPaused: false, positionMs: 0, at: Sample.time(8),
                startedAt: startedAt.map { Sample.time($0) }, playedMs: playedMs)
        }
        let playbacks = [onAir(nil, nil), onAir(1, nil), onAir(2, nil), onAir(nil, 1), onAir(nil, 2), onAir(1, 1)]
        return heard.map { Deck(played: $0, queue: [], playback: .stopped) }
            + playbacks.map { Deck(queue: [], playback: $0) }
            + [0, 1].map { Deck(queue: [], playback: .stopped, known: Sample.entry($0)) }
    }

    @Test func `how a command was written makes no difference`() throws {
        let texts = [
            #"{"type":"kick","member":2,"ban":false}"#, #" { "member" : 2.0, "x":1, "reason":null, "type":"kick" } "#,
        ]
        let fingerprints = try texts.map {
            CommandJSON.fingerprint(try CommandJSON.parse(JSONValue(parsing: Array($0.utf8))))
        }
        #expect(fingerprints[0] == fingerprints[1])
        let one = try CommandJSON.parse(JSONValue(parsing: Array(#"{"type":"kick","members":[2]}"#.utf8)))
        #expect(CommandJSON.fingerprint(one) == fingerprints[0])
    }

    @Test func `a location counts as its cell`() {
        func fingerprint(_ longitude: Double, cell: Double) -> Int64 {
            var update = RoomUpdate()
            update.location = Coordinate(latitude: 48.2, longitude: longitude)
            return CommandJSON.fingerprint(.updateRoom(update), cell: cell)
        }
        #expect(fingerprint(16.4, cell: 100) == fingerprint(16.400_01, cell: 100))
        #expect(fingerprint(16.4, cell: 100) != fingerprint(16.41, cell: 100))
        #expect(fingerprint(16.4, cell: 0) != fingerprint(16.400_01, cell: 0))
        #expect(CommandJSON.fingerprint(.leave, cell: 100) == CommandJSON.fingerprint(.leave))
    }

    @Test func `requests for rooms that differ have fingerprints that differ`() throws {
        let texts = [
            #"{"name":"a"}"#, #"{"name":"b"}"#, #"{"name":"a","visibility":"public"}"#,
            #"{"name":"a","location":{"lat":1,"lon":2}}"#, #"{"name":"a","location":{"lat":2,"lon":1}}"#,
            #"{"name":"a","settings":{"skipRatio":0.5}}"#,
        ]
        let fingerprints = try texts.map { try CreateRoomRequest.parse(Array($0.utf8)).fingerprint }
        #expect(Set(fingerprints).count == texts.count)
        let again = try CreateRoomRequest.parse(Array(#"{"settings":{},"name":"a"}"#.utf8)).fingerprint
        #expect(again == fingerprints[0])
    }
}
