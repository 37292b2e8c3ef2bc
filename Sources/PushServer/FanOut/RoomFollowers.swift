import NIOCore
import RoomDomain
import RoomService
import TLSTransport

/// A connection that follows rooms, in the form that their followers know it.
protocol RoomFollower: AnyObject {
    /// Its number, unique in this process.
    var id: ConnectionID { get }
    /// The TLS handler that sends; nil if there is no TLS.
    var tls: TLSHandler? { get }
    /// The agreed compression.
    var compression: SocketCompression { get }

    /// The connection's place among the followers of a room has changed.
    func moved(to place: Int, in room: RoomID)

    /// The transport did not take all of a delta that was sent without the outbox.
    func stalled()

    /// Deltas were not sent because others before them were not.
    func leftOut(_ deltas: Int)

    /// Adds a delta or ephemeral message to the output that waits, or drops all of them if they are too many.
    ///
    /// `seq` is the first event of a delta; for an ephemeral message, the first event after it.
    func queue(_ frame: ByteBuffer, _ kind: Outbox.Kind, of room: RoomID, from seq: Int)
}

/// The connections of one event loop that follow one room, and the output that waits for all of them.
///
/// The messages of a delivery are framed once and reach each follower in one write. The type is generic, so that a
/// delivery to many followers calls its connections directly.
final class RoomFollowers<Connection: RoomFollower> {
    /// One follower.
    private struct Follower {
        let connection: Connection
        /// The TLS handler that sends; nil if there is no TLS.
        let tls: TLSHandler?
        /// The events that the connection was given, and those that it lacks.
        var progress: FollowerProgress
        /// Whether output waits that must be sent before a delta.
        ///
        /// It is stored here, with all other values that a delivery reads, because the connections of a large room are
        /// in no processor cache.
        var isWaiting: Bool
        let compression: SocketCompression
        /// Whether it no longer follows, and is kept only until the delivery under way ends.
        var isGone = false
    }

    /// The most bytes of a delivery that are sent without the outbox.
    private static var directLimit: Int { 32_768 }

    let room: RoomID
    private var followers: ContiguousArray<Follower> = []
    private var goneCount = 0
    /// The deliveries under way, since sending may begin another one; nobody leaves their place until all have ended.
    private var deliveries = 0
    private var pending: [PublishedEvents] = []
    private var pendingEphemeral: [EphemeralMessage] = []
    /// The number of events and ephemeral messages that wait to be delivered.
    private(set) var pendingCount = 0

    /// Makes the followers of a room, at first without any.
    init(of room: RoomID) {
        self.room = room
    }

    /// Whether the room has no followers.
    var isEmpty: Bool { followers.count == goneCount }

    /// All connections that follow.
    var connections: [Connection] { followers.filter { !$0.isGone }.map(\.connection) }

    // MARK: Following

    /// Adds a connection that has all events up to `seq`, and returns its place; `isWaiting`: output waits that must be
    /// sent before a delta.
    func add(_ connection: Connection, seq: Int, isWaiting: Bool) -> Int {
        followers.append(
            Follower(
                connection: connection, tls: connection.tls, progress: FollowerProgress(seq: seq), isWaiting: isWaiting,
                compression: connection.compression))
        return followers.count - 1
    }

    /// The progress of the connection at `place`.
    subscript(place: Int) -> FollowerProgress {
        _read { yield followers[place].progress }
        _modify { yield &followers[place].progress }
    }

    /// Drops all messages that wait: every follower must start again with a snapshot.
    func beginAnew() {
        pending.removeAll(keepingCapacity: true)
        pendingEphemeral.removeAll(keepingCapacity: true)
        pendingCount = 0
        for place in followers.indices { followers[place].progress.beginAnew() }
    }

    /// Records whether output waits for the connection at `place`.
    func setWaiting(_ isWaiting: Bool, at place: Int) {
        followers[place].isWaiting = isWaiting
    }

    /// Removes the connection at `place`.
    func remove(_ place: Int) {
        followers[place].isGone = true
        followers[place].isWaiting = true
        goneCount += 1
        if deliveries == 0 { removeGone(place) }
    }

    private func removeGone(_ place: Int) {
        goneCount -= 1
        let last = followers.removeLast()
        guard place < followers.count else { return }
        followers[place] = last
        last.connection.moved(to: place, in: room)
    }

    // MARK: Delivering

    /// Keeps events until the next delivery; returns whether nothing was waiting before.
    func gather(_ update: PublishedEvents) -> Bool {
        defer { pendingCount += update.seq - update.from + 1 }
        pending.append(update)
        return pendingCount == 0
    }

    /// Keeps an ephemeral message until the next delivery, which sends it after the events; returns whether nothing was
    /// waiting before.
    func gather(_ message: EphemeralMessage) -> Bool {
        defer { pendingCount += 1 }
        pendingEphemeral.append(message)
        return pendingCount == 0
    }

    /// Sends everything that waits to all followers; returns how many frames were sent directly, and their bytes.
    func deliver(framing: FrameMaker) -> (deltas: Int, ephemeral: Int, bytes: Int) {
        guard pendingCount > 0 else { return (0, 0, 0) }
        let batch = DeliveryBatch(pending, pendingEphemeral, framing)
        let range = pending.first.flatMap { first in pending.last.map { first.from...$0.seq } }
        pending.removeAll(keepingCapacity: true)
        pendingEphemeral.removeAll(keepingCapacity: true)
        pendingCount = 0
        deliveries += 1
        defer { endDelivery() }
        let isShort = batch.byteCount <= Self.directLimit
        var (sent, bytes, place) = (0, 0, 0)
        // A follower that is added during the delivery stands at the end and already has these events.
        while place < followers.count {
            defer { place += 1 }
            guard isShort, !followers[place].isWaiting, let tls = followers[place].tls,
                range.map({ followers[place].progress.takes(from: $0.lowerBound) }) ?? followers[place].progress.isWhole
            else {
                if !followers[place].isGone { queue(batch, at: place) }
                continue
            }
            if let range { followers[place].progress.gave(through: range.upperBound) }
            let frames = batch.bytes(for: followers[place].compression)
            sent += 1
            bytes += frames.readableBytes
            // The connection may have ended before this returns.
            if !tls.send(frames) || !tls.isIdle, !followers[place].isGone { followers[place].connection.stalled() }
        }
        return (sent * batch.updates.count, sent * batch.ephemeral.count, bytes)
    }

    /// Sends a change of the deck to the followers that it concerns, and to each what it is told.
    ///
    /// A follower that lacks events gets it too: the rest of an answer, which it may be waiting for, has only events.
    func show(_ change: DeckChange, framing: FrameMaker) {
        let (others, here) = (framing.plain(change.message), change.here.map { framing.plain($0.message) })
        deliveries += 1
        defer { endDelivery() }
        // Sending may end connections, which then stay in their places.
        for place in followers.indices where !followers[place].isGone {
            let connection = followers[place].connection
            guard change.concerned?.contains(connection.id) ?? true else { continue }
            let frame = connection.id == change.here?.connection ? here ?? others : others
            connection.queue(frame, .ephemeral(.deck), of: room, from: followers[place].progress.seq + 1)
        }
    }

    private func endDelivery() {
        deliveries -= 1
        guard deliveries == 0, goneCount > 0 else { return }
        for place in followers.indices.reversed() where followers[place].isGone { removeGone(place) }
    }

    /// Adds the messages that a connection lacks to its waiting output, or leaves them out.
    private func queue(_ batch: DeliveryBatch, at place: Int) {
        let connection = followers[place].connection
        for (index, update) in batch.updates.enumerated() where update.seq > followers[place].progress.seq {
            // Sending may end the connection.
            guard !followers[place].isGone else { return }
            guard followers[place].progress.takes(from: update.from) else {
                followers[place].progress.leaveOut(from: followers[place].progress.seq + 1)
                connection.leftOut(batch.updates.count - index)
                return
            }
            followers[place].progress.gave(through: update.seq)
            connection.queue(batch.frame(index, for: connection.compression), .delta, of: room, from: update.from)
        }
        for (index, message) in batch.ephemeral.enumerated() {
            // A connection that lacks events gets a snapshot, which contains presence.
            guard !followers[place].isGone, followers[place].progress.isWhole else { return }
            connection.queue(
                batch.frame(batch.updates.count + index, for: connection.compression), .ephemeral(message.kind),
                of: room, from: followers[place].progress.seq + 1)
        }
    }
}
