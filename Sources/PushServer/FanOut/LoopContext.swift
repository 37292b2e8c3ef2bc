import NIOCore
import RoomService
import WebSocketCodec

/// What the connections of one event loop share.
///
/// Touched on that loop only.
final class LoopContext {
    let eventLoop: any EventLoop
    let rooms: RoomHost
    let settings: RoomServerSettings
    let admission: Admission
    /// Finds the rooms that clients name.
    var lookup: RoomLookup { RoomLookup(rooms: rooms.registry, admission: admission) }
    let framing = FrameMaker()
    /// What is due on the connections.
    let deadlines: LoopDeadlines
    /// What the loop does in turns.
    let turns: LoopTurns
    /// Steps of TLS handshakes: each by itself, with no more of a pause than it takes to look at the sockets.
    let handshakeTurns: LoopTurns
    /// What the loop's sockets have done.
    var tally = ConnectionTally()
    private let probe: EventLoopProbe
    private var nextNumber: Int
    private let numberStep: Int

    /// Makes the context of one loop, the `index`th of `count`, so that its numbers are unique in the process; call on the
    /// loop.
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

    /// A number for a new channel.
    func makeID() -> ConnectionID {
        defer { nextNumber += numberStep }
        return ConnectionID(rawValue: nextNumber)
    }

    /// Makes what reads a socket's messages.
    func makeReader(for compression: SocketCompression) -> MessageReader {
        MessageReader(
            role: .server, maximumMessageLength: settings.maximumMessageLength, deflate: compression.parameters,
            inflater: framing.inflater)
    }
}
