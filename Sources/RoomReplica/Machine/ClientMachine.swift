package import RoomDomain
import RoomWire

/// A client of one server for one person: any number of rooms over one socket.
///
/// It does no I/O and has no clock and no randomness: bytes, calls and moments come in, and steps go out. Its parts each
/// have a life of their own: ``Connecting``, ``Liveness``, ``ClockSync``, ``NearbyWatches``, and for each room
/// ``Following``, ``Commands``, ``Overlay`` and ``DeckSync``. The machine joins them: it reads messages, gives each to
/// its part, and turns the parts' steps into its own.
package struct ClientMachine: Sendable {
    var connecting = Connecting()
    var liveness = Liveness()
    var clock = ClockSync()
    var circles = NearbyWatches()
    /// In the order in which they were first followed.
    package internal(set) var rooms: [ClientRoom] = []
    /// Signals and claims without an answer, by the `id` of their messages.
    var tellings: [Int64: TellingNumber] = [:]
    /// The path of the attempt under way or open.
    var path = SocketPath.any
    /// The rooms that were left on this connection because the server has sent them unasked.
    var leavings = 0
    /// The last `id` of a message.
    var ids: Int64 = 0
    /// The last number of a command.
    var lastCommand: Int
    var lastTelling = 0
    var steps: [ClientStep] = []
    /// The session of the socket; nil before the first `welcome`.
    package internal(set) var session: SessionID?
    /// The messages that could not be read, of unknown types among them.
    package internal(set) var unreadable = 0
    var wakeAt: ClientInstant?
    /// Whether ``wake(at:)`` connects again, as it does after ``suspend(at:)`` only.
    var isSuspended = false

    /// Begins with the commands that were kept, in their order; `last` is the greatest number that was ever given.
    ///
    /// The rooms of these commands are followed until all are answered.
    package init(outbox: [OutboxCommand] = [], last: CommandNumber = CommandNumber(rawValue: 0), at now: ClientMoment) {
        lastCommand = max(last.rawValue, outbox.map(\.number.rawValue).max() ?? 0)
        for command in outbox.sorted(by: { $0.number < $1.number }) {
            let index = place(of: command.room)
            let added = rooms[index].commands.add(command, at: now)
            // It is kept already, and its effect is shown again.
            if rooms[index].commands.newest?.number == command.number { _ = rooms[index].overlay.add(command, at: nil) }
            // It may end another one, or name an entry of a command that was not kept. The next input tells.
            carry(added.filter { $0 != .keep(command) }, index, at: now)
        }
    }

    /// The room of a reference, which is added if it is not there.
    mutating func place(of reference: RoomReference) -> Int {
        if let index = rooms.firstIndex(where: { $0.reference == reference }) { return index }
        rooms.append(ClientRoom(reference))
        return rooms.count - 1
    }

    /// Whether somebody hears a song.
    var isPlaying: Bool { rooms.contains { $0.isHeld && $0.isPlaying } }

    /// Begins a burst of exchanges of clocks.
    mutating func measure(at now: ClientMoment) {
        ids += 1
        clock.begin(id: ids, at: now.instant)
        send(.time(id: ids, t1: now.instant.milliseconds))
    }

    mutating func send(_ message: ClientMessage) { steps.append(.send(message.encoded())) }

    mutating func save(_ index: Int, at now: ClientInstant?) {
        guard let stored = rooms[index].takeUnsaved(at: now) else { return }
        steps.append(.keep(.room(rooms[index].reference, stored)))
    }

    /// Does what is due now, and returns all steps of an input.
    mutating func finish(at now: ClientMoment) -> [ClientStep] {
        for index in rooms.indices { work(index, at: now) }
        leave(rooms.filter { $0.isDone })
        let due = connecting.isOff ? nil : self.due
        if due != wakeAt {
            wakeAt = due
            steps.append(.wake(at: due))
        }
        defer { steps = [] }
        return steps
    }

    /// The next moment at which something has to be done without a message.
    private var due: ClientInstant? {
        let parts = [liveness.due, clock.due(isPlaying: isPlaying), circles.due]
        return (parts + rooms.flatMap { [$0.commands.due, $0.following.due, $0.claim.due] }).compactMap { $0 }.min()
    }
}
