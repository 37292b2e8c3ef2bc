import NIOCore
import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

@testable import RoomService

/// `StateEncoder` by the numbers of its invariants.
@Suite struct StateEncoderTests {
    private static func longStates(_ settings: inout RoomHostSettings) { settings.answers.longStateBytes = 0 }

    private func encoder(of parts: RoomParts) -> StateEncoder<String> {
        StateEncoder(settings: parts.dependencies.settings, metrics: parts.dependencies.metrics)
    }

    /// Asks, and expects to wait.
    private func ask(
        _ encoder: inout StateEncoder<String>, _ question: String, in room: RoomState, compressed: Bool = false,
        of connection: Int? = nil
    ) {
        let state = encoder.state(
            of: room, compressed: compressed, for: question, of: connection.map(ConnectionID.init(rawValue:)))
        #expect(state == nil, "\(question)")
    }

    /// Runs an encoding, and returns the questions that it answers.
    private func run(
        _ job: EncodingJob?, of parts: RoomParts, in encoder: inout StateEncoder<String>, now room: RoomState,
        epoch: String = "first"
    ) throws -> [String] {
        let job = try #require(job)
        let state = job.run(countingIn: parts.dependencies.metrics)
        var answered: [String] = []
        guard encoder.ended(job, with: state, now: room, in: epoch) else { return [] }
        while let question = encoder.next(of: job, state) { answered.append(question) }
        return answered
    }

    private let renamed = RoomEvent.memberRenamed(member: 1, name: "Anna")

    @Test func `a short state is encoded at once, and once for a position`() {
        let parts = RoomParts()
        var encoder = encoder(of: parts)
        let (room, later) = (parts.loaded().state, parts.loaded([renamed]).state)
        let first = encoder.state(of: room, compressed: true, for: "", of: nil)
        let second = encoder.state(of: room, compressed: false, for: "", of: nil)
        #expect(first?.shared.json == StateJSON.encode(room) && first?.shared === second?.shared)
        encoder.outdate()
        let third = encoder.state(of: later, compressed: false, for: "", of: nil)
        #expect(third?.shared.seq == 5 && encoder.isIdle)
    }

    @Test func `1 and 4: all who wait share one encoding`() throws {
        let parts = RoomParts(settings: Self.longStates)
        var encoder = encoder(of: parts)
        let room = parts.loaded().state
        #expect(encoder.begin(room, in: "first") == nil, "nobody waits")
        for question in ["a", "b"] { ask(&encoder, question, in: room) }
        let job = encoder.begin(room, in: "first")
        ask(&encoder, "c", in: room)
        #expect(encoder.begin(room, in: "first") == nil, "one is under way")
        #expect(try run(job, of: parts, in: &encoder, now: room) == ["a", "b", "c"])
        #expect(encoder.isIdle && encoder.begin(room, in: "first") == nil)
        let state = encoder.state(of: room, compressed: false, for: "", of: nil)
        #expect(state?.shared.seq == 4, "it is kept")
    }

    @Test func `2: a question waits for its position, and its connection's`() throws {
        let parts = RoomParts(settings: Self.longStates)
        var encoder = encoder(of: parts)
        let (room, later) = (parts.loaded().state, parts.loaded([renamed]).state)
        for number in 1...2 { ask(&encoder, "early \(number)", in: room, of: number) }
        let job = encoder.begin(room, in: "first")
        encoder.outdate()
        ask(&encoder, "late", in: later, of: 3)
        encoder.given(5, to: ConnectionID(rawValue: 2))
        #expect(try run(job, of: parts, in: &encoder, now: later) == ["early 1"])
        let next = encoder.begin(later, in: "first")
        #expect(try run(next, of: parts, in: &encoder, now: later) == ["early 2", "late"])
    }

    @Test func `a question waits for the compressed form if it needs it`() throws {
        let parts = RoomParts(settings: Self.longStates)
        var encoder = encoder(of: parts)
        let room = parts.loaded().state
        ask(&encoder, "plain", in: room)
        let job = encoder.begin(room, in: "first")
        ask(&encoder, "compressed", in: room, compressed: true)
        #expect(try run(job, of: parts, in: &encoder, now: room) == ["plain"])
        let next = encoder.begin(room, in: "first")
        #expect(try run(next, of: parts, in: &encoder, now: room) == ["compressed"])
        let state = encoder.state(of: room, compressed: true, for: "", of: nil)
        #expect(state?.shared.isCompressed == true)
    }

    @Test func `3: nobody is given what was removed, or another log`() throws {
        let parts = RoomParts(settings: Self.longStates)
        var encoder = encoder(of: parts)
        let room = parts.loaded().state
        let forgotten = parts.loaded([.roomClosed(forget: true)]).state
        ask(&encoder, "a", in: room)
        let job = encoder.begin(room, in: "first")
        #expect(try run(job, of: parts, in: &encoder, now: forgotten) == [])
        let second = encoder.begin(forgotten, in: "first")
        encoder.replaced()
        #expect(try run(second, of: parts, in: &encoder, now: room, epoch: "second") == [])
        let third = encoder.begin(room, in: "second")
        #expect(try run(third, of: parts, in: &encoder, now: room, epoch: "second") == ["a"])
    }

    @Test func `4: a refused encoding gives everybody up`() {
        let parts = RoomParts(settings: Self.longStates)
        var encoder = encoder(of: parts)
        let room = parts.loaded().state
        for question in ["a", "b"] { ask(&encoder, question, in: room) }
        _ = encoder.begin(room, in: "first")
        #expect(encoder.giveUp() == ["a", "b"])
        #expect(encoder.isIdle)
        ask(&encoder, "c", in: room)
        #expect(encoder.begin(room, in: "first") != nil)
    }
}
