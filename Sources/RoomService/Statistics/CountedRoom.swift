import RoomDomain
import RoomStatistics

/// A room's durable state, with what is counted of the events that this server has appended.
///
/// Events are counted while they are folded, because reading them back would cost a hundred times as much.
struct CountedRoom {
    /// What has been counted since it was last taken.
    enum Taken {
        case tally(RoomTally)
        /// Events were left out: they have to be read from the log.
        case behind
    }

    /// The durable state.
    private(set) var state: RoomState
    /// What is counted; nil if nothing is to be.
    private var tally: RoomTally?
    /// Whether a tally was dropped.
    private var isBehind = false
    /// Whether the events that are read next may be this server's, whose append got no answer.
    private var expectsOwn = false

    /// The rows beyond which a tally is dropped; the log still has its events.
    private static let mostRows = 64

    init(_ state: RoomState, in epoch: String, isCounting: Bool) {
        self.state = state
        tally = isCounting ? RoomTally(of: state.id, in: epoch, after: state.seq) : nil
    }

    /// An append got no answer: its events may be read next, and then nobody else counts them.
    mutating func expectOwn() { expectsOwn = true }

    /// Applies durable events; returns whether ``take()`` has something from now on, and had nothing before.
    ///
    /// Events that others have appended are counted only where they follow those of this server: whoever appended them
    /// counts them.
    mutating func fold(_ events: [RecordedEvent], areOwn: Bool) -> Bool {
        defer { if !events.isEmpty { expectsOwn = false } }
        guard let before = tally, areOwn || expectsOwn || !before.isEmpty else {
            for event in events { state.evolve(event) }
            if let before = tally { tally = RoomTally(of: before.room, in: before.epoch, after: state.seq) }
            return false
        }
        let hadNothing = before.isEmpty && !isBehind
        for event in events {
            state.evolve(event)
            tally?.add(event, in: state)
        }
        if let rows = tally?.rows, rows > Self.mostRows {
            isBehind = true
            tally = RoomTally(of: before.room, in: before.epoch, after: state.seq)
        }
        return hadNothing && !events.isEmpty
    }

    /// Takes what was counted; nil if nothing was.
    mutating func take() -> Taken? {
        guard let taken = tally, isBehind || !taken.isEmpty else { return nil }
        defer {
            tally = RoomTally(of: taken.room, in: taken.epoch, after: state.seq)
            isBehind = false
        }
        return isBehind ? .behind : .tally(taken)
    }
}
