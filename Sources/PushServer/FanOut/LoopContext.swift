import NIOCore
import RoomService
import WebSocketCodec

/// The state that the connections of one event loop share.
///
/// Used on that loop only.
final class LoopContext {
    let eventLoop: any EventLoop
    let rooms: RoomHost
    let settings: RoomServerSettings
    let admission: Admission
    /// Finds the rooms that clients name.
    var lookup: RoomLookup { RoomLookup(rooms: rooms.registry, admission: admission) }
    let framing = FrameMaker()
    /// The loop's time.
    var now: NIODeadline { eventLoop.now }
    /// The deadlines of the connections.
    let deadlines: LoopDeadlines
    /// The loop's work that is done in turns.
    let turns: LoopTurns
    /// The steps of TLS handshakes, one in each turn; the pause between them is just long enough to look at the
    /// sockets.
    let handshakeTurns: LoopTurns
    /// The counts of the loop's sockets.
    var tally = ConnectionTally()
    private let probe: EventLoopProbe
    private var nextNumber: Int
    private let numberStep: Int

    /// Makes the context of one loop, the `index`th of `count`; call on the loop.
    ///
    /// The index and the count make the numbers of channels unique in the process.
    init(
        eventLoop: any EventLoop, index: Int, of count: Int, rooms: RoomHost, settings: RoomServerSettings,
        admission: Admission, probe: EventLoopProbe
    ) {
        self.eventLoop = eventLoop
        self.rooms = rooms
        self.settings = settings
        self.admission = admission
        self.probe = probe
        deadlines = LoopDeadlines(loop: eventLoop)
        turns = rooms.registry.turns(of: eventLoop)
        handshakeTurns = LoopTurns(of: eventLoop, slice: .milliseconds(1), pause: .microseconds(5))
        nextNumber = index + 1
        numberStep = count
    }

    /// Makes a number for a new channel.
    func makeID() -> ConnectionID {
        defer { nextNumber += numberStep }
        return ConnectionID(rawValue: nextNumber)
    }

    /// Makes the reader of a socket's messages.
    func makeReader(for compression: SocketCompression) -> MessageReader {
        MessageReader(
            role: .server, maximumMessageLength: settings.sizes.maximumMessageLength, deflate: compression.parameters,
            inflater: framing.inflater)
    }
}
