import NIOCore
import RoomDomain
import RoomTestSupport
import Testing

@testable import RoomService

/// The commands that a server gives a room by itself.
@Suite struct ServerCommandsTests {
    private static let start = RoomParts.start
    private static let beat = TimeAmount.seconds(5)

    private func commands(of parts: RoomParts) -> ServerCommands {
        ServerCommands(registry: parts.dependencies.presence, beat: Self.beat)
    }

    /// A room in which one member has voted to skip the track on air.
    private func voted(_ parts: RoomParts) -> RoomState {
        let now = Timestamp(milliseconds: 1)
        return parts.loaded([
            .tracksAdded(
                tracks: [NumberedTrack(id: 1, info: .named("Song"))], by: 1),
            .entryEnqueued(entry: 1, track: 1, index: 0, by: 1),
            .playbackStarted(entry: 1, track: 1, positionMs: 0, at: now, by: 1),
            .skipVoteCast(entry: 1, by: 2, skipVotes: 1),
        ]).state
    }

    @Test func `votes to skip are counted when few enough are online`() {
        let parts = RoomParts()
        let room = voted(parts)
        var commands = commands(of: parts)
        #expect(commands.countSkipVotes(in: room, online: [1, 2, 3], at: Self.start) == [])
        #expect(commands.countSkipVotes(in: room, online: [2], at: Self.start) == [.submit(.countSkipVotes)])
    }

    @Test func `votes of members who are away do not count, and those of who come back after a start count later`() {
        let parts = RoomParts()
        let room = voted(parts)
        var commands = commands(of: parts)
        #expect(commands.countSkipVotes(in: room, online: [1], at: Self.start) == [])
        #expect(
            commands.countSkipVotes(in: room, online: [1, 2], someCameBack: true, at: Self.start)
                == [.set(.skipCount, at: Self.start + Self.beat)])
        #expect(commands.countSkipVotes(in: room, online: [1, 2], at: Self.start) == [.submit(.countSkipVotes)])
    }

    @Test func `a server that does not hear the others counts later, and not without followers`() {
        let parts = RoomParts { $0.logIsShared = true }
        let room = voted(parts)
        var commands = commands(of: parts)
        #expect(
            commands.countSkipVotes(in: room, online: [2], at: Self.start)
                == [.set(.skipCount, at: Self.start + Self.beat)])
        #expect(commands.countSkipVotes(in: room, online: [2], at: Self.start) == [], "the alarm is set")
        let later = Self.start + Self.beat
        #expect(
            commands.countAgain(in: room, online: [2], isFollowed: true, at: later)
                == [.set(.skipCount, at: later + Self.beat)])
        #expect(commands.countAgain(in: room, online: [2], isFollowed: false, at: later) == [])
        #expect(commands.countAgain(in: room, online: [1, 2, 3], isFollowed: true, at: later) == [])
    }

    @Test func `the next look at the owner is set once, and dropped when the owner is back`() {
        let parts = RoomParts()
        let room = parts.loaded([.roomUpdated(.with { $0.settings = .with { $0.ownerAwayMs = 60_000 } })]).state
        var commands = commands(of: parts)
        func review(_ online: Set<MemberID>, _ seconds: Int64) -> [FollowingStep] {
            commands.reviewOwner(of: room, online: online, isFollowed: true, at: Self.start + .seconds(seconds))
        }
        #expect(review([1, 2], 0) == [])
        #expect(review([2], 1) == [.set(.owner, at: Self.start + .seconds(61))])
        #expect(review([2, 3], 2) == [], "the alarm is set")
        #expect(review([1, 2], 3) == [.drop(.owner)])
        #expect(review([1, 2], 4) == [])
        #expect(review([2], 10) == [.set(.owner, at: Self.start + .seconds(70))])
        #expect(
            commands.lookAgain(at: room, online: [2], isFollowed: true, at: Self.start + .seconds(70))
                == [.submit(.replaceOwner(1))])
        #expect(review([2], 70) == [.set(.owner, at: Self.start + .seconds(70) + OwnerWatch.retryInterval)])
    }
}

extension RoomChanges {
    static func with(_ change: (inout RoomChanges) -> Void) -> RoomChanges {
        var changes = RoomChanges()
        change(&changes)
        return changes
    }
}

extension RoomSettings {
    static func with(_ change: (inout RoomSettings) -> Void) -> RoomSettings {
        var settings = RoomSettings()
        change(&settings)
        return settings
    }
}
