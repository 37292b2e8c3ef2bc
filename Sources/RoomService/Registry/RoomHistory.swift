import EventStorage
import Logging
package import RoomDomain
import RoomLog
import RoomWire

/// Earlier states of rooms, and parts of their logs; may be used on any thread.
package struct RoomHistory: Sendable {
    private let registry: RoomRegistry
    private let store: any EventStore
    private let heavyWork: HeavyWork
    private let shares: ReadShares
    private let clock: ServerClock
    private let logger: Logger

    init(registry: RoomRegistry) {
        self.registry = registry
        store = registry.dependencies.store
        heavyWork = registry.dependencies.heavyWork
        shares = registry.dependencies.readShares
        clock = registry.dependencies.clock
        logger = registry.dependencies.logger
    }

    /// Returns the room at its event `seq`, without presence.
    ///
    /// It is folded from the nearest earlier snapshot, when the asker's turn comes, outside the event loops.
    package func view(_ room: RoomID, at seq: Int, for asker: Asker) async throws(RoomFailure) -> RoomView {
        let (live, position) = try await registry.withRoom(room, for: asker.session) { ($0, $0.position) }
        guard (1...max(1, position.seq)).contains(seq) else { throw .noSuchRoom }
        return try await read(for: asker) { () async throws(RoomFailure) in
            do {
                var state = try await store.state(of: room, at: seq, logger: logger) { shares.charge($0, to: asker) }
                // The log may still contain data that is to be forgotten or was cleared, also since this was read.
                let redaction = await live.redaction
                redaction.redact(&state)
                return RoomView(
                    room: room, epoch: position.epoch, seq: seq, keyed: nil, time: clock.now,
                    state: SharedState(seq: seq, StateJSON.encode(state)), you: YouJSON.encode(state, asker.session),
                    presence: nil)
            } catch {
                throw Self.failure(error)
            }
        }
    }

    /// About how many bytes of events are read for one page, and at a time.
    package static let bytesOfEvents = 1 << 20

    /// Returns at most `limit` events after `seq`, and about ``bytesOfEvents`` of them, for a session that may look at
    /// the room.
    package func events(
        of room: RoomID, after seq: Int, limit: Int, for asker: Asker
    ) async throws(RoomFailure) -> LogPage {
        try await events(of: room, after: seq, limit: limit, for: asker) { $0 }
    }

    /// Passes at most `limit` events after `seq`, and about ``bytesOfEvents`` of them, to `make`, and returns its
    /// result; for a session that may look at the room.
    ///
    /// The events are read and `make` is called when the asker's turn comes, outside the event loops.
    package func events<Value: Sendable>(
        of room: RoomID, after seq: Int, limit: Int, for asker: Asker,
        _ make: @escaping @Sendable (LogPage) -> Value
    ) async throws(RoomFailure) -> Value {
        let (live, position) = try await registry.withRoom(room, for: asker.session) { ($0, $0.position) }
        guard seq >= 0, seq < position.seq, limit > 0 else {
            return make(LogPage(epoch: position.epoch, events: [], seq: position.seq))
        }
        return try await read(for: asker) { () async throws(RoomFailure) in
            do {
                let count = min(limit, position.seq - seq)
                let stored = try await store.read(
                    room.uuid, after: seq, limit: count, bytes: Self.bytesOfEvents)
                shares.charge(stored.payloadBytes, to: asker)
                let events = try stored.recorded(after: seq, through: stored.last?.seq ?? seq + count)
                let redaction = await live.redaction
                return make(
                    LogPage(
                        epoch: position.epoch, events: redaction.shown(events), seq: position.seq))
            } catch {
                throw Self.failure(error)
            }
        }
    }

    /// Reads a log when the asker's turn comes, unless it has read too much: many may wait, and what each reads is known
    /// afterwards.
    private func read<Value: Sendable>(
        for asker: Asker, _ body: @escaping @Sendable () async throws(RoomFailure) -> Value
    ) async throws(RoomFailure) -> Value {
        try shares.look(asker)
        return try await heavyWork.perform(.log, for: asker) { () async throws(RoomFailure) in
            try shares.look(asker)
            return try await body()
        }
    }

    private static func failure(_ error: any Error) -> RoomFailure {
        switch error {
        case let failure as RoomFailure: failure
        case let fault as StorageFault: RoomFailure(fault)
        default: .internalFault
        }
    }
}

extension LiveRoom {
    /// The data of the room that may no longer be shown to anybody.
    fileprivate var redaction: Redaction { confirmed.redaction }
}
