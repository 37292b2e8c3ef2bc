import EventStorage
import FoundationEssentials
import Logging
package import NIOCore
package import RoomDomain
import RoomWire

/// The live rooms of one event loop, each loaded once and evicted when idle.
package actor RoomTable {
    /// Called on the table's event loop, which is also the room's.
    package typealias Visit = @Sendable (Result<LiveRoom, RoomFailure>) -> Void

    private enum Place {
        case live(LiveRoom)
        case loading([Visit])
    }

    package nonisolated let loop: any EventLoop
    private nonisolated let executor: any SerialExecutor
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        // The executor lives as long as the actor, which holds it.
        unsafe executor.asUnownedSerialExecutor()
    }

    private let turns: LoopTurns
    private let dependencies: Dependencies
    private let codes: RoomCodes
    private var places: [RoomID: Place] = [:]

    init(turns: LoopTurns, dependencies: Dependencies, codes: RoomCodes) {
        self.turns = turns
        loop = turns.loop
        executor = loop.executor
        self.dependencies = dependencies
        self.codes = codes
    }

    /// Calls `visit` with a room: at once if it is live, otherwise when it has been loaded.
    ///
    /// Visits of one room keep their order.
    package func visit(_ id: RoomID, _ visit: @escaping Visit) {
        switch places[id] {
        case .live(let room) where !room.assumeIsolated({ $0.isForgotten }):
            visit(.success(room))
        case .loading(let visits):
            guard visits.count < dependencies.settings.waitingCommandsPerRoom else {
                return visit(.failure(.unavailable))
            }
            places[id] = .loading(visits + [visit])
        case .live(let room):
            codes.remove(room.assumeIsolated { $0.confirmed.code }, of: id)
            places[id] = .loading([visit])
            load(id)
        case nil:
            places[id] = .loading([visit])
            load(id)
        }
    }

    /// Calls `visit` with a room that is in memory; otherwise does nothing.
    func visitLive(_ id: RoomID, _ visit: @Sendable (isolated LiveRoom) -> Void) {
        guard case .live(let room) = places[id] else { return }
        room.assumeIsolated { visit($0) }
    }

    private func load(_ id: RoomID) {
        let (loop, dependencies) = (loop, dependencies)
        let isStarted = dependencies.jobs.start {
            let result = await DecodedRoom.load(id, in: dependencies)
            loop.execute { self.assumeIsolated { $0.loaded(id, result) } }
        }
        if !isStarted { loaded(id, .failure(.unavailable)) }
    }

    private func loaded(_ id: RoomID, _ result: Result<DecodedRoom, RoomFailure>) {
        guard case .loading(let visits) = places[id] else { return }
        dependencies.metrics.roomLoadEnded(RoomMetrics.LoadOutcome(result))
        switch result {
        case .success(let decoded):
            let room = LiveRoom(decoded, turns: turns, dependencies: dependencies)
            places[id] = .live(room)
            // In this turn of the loop, because the room is told of later changes itself.
            room.assumeIsolated { $0.beginFollowing() }
            codes.set(decoded.state.code, of: id)
            for visit in visits { visit(.success(room)) }
        case .failure(let failure):
            places[id] = nil
            for visit in visits { visit(.failure(failure)) }
        }
    }

    /// Removes idle rooms from memory, with a snapshot of their state.
    func evictIdle() {
        for case .live(let room) in places.values {
            let idle = dependencies.settings.evictAfter
            guard room.assumeIsolated({ $0.leaveMemory(idle: idle) }) else { continue }
            places[room.id] = nil
            dependencies.presence.setCount(nil, of: room.id)
            codes.remove(room.assumeIsolated { $0.confirmed.code }, of: room.id)
            dependencies.metrics.roomEvicted()
        }
    }

    /// The number of rooms in memory.
    var liveRooms: Int {
        places.values.count { place in
            if case .live = place { true } else { false }
        }
    }

    /// The rooms with followers, by the ids that the store uses.
    func followedRooms() -> [RoomID] {
        places.values.compactMap { place in
            guard case .live(let room) = place else { return nil }
            return room.assumeIsolated { $0.isFollowed } ? room.id : nil
        }
    }

    /// Tells live rooms about the events that other servers have appended.
    func hear(_ moved: [RoomID: Int]) {
        for (id, seq) in moved {
            guard case .live(let room) = places[id] else { continue }
            room.assumeIsolated { $0.hear(seq) }
        }
    }

    /// Makes rooms with followers that could not be read try again.
    func readStale() {
        for case .live(let room) in places.values {
            room.assumeIsolated { room in
                room.catchUp()
            }
        }
    }

    /// Makes those of `streams` that are live rooms read the events that the log has beyond theirs; a stream without a
    /// head is gone from the log.
    func compare(with heads: [UUID: StreamHead], of streams: [UUID]) {
        for stream in streams {
            guard case .live(let room) = places[RoomID(stream)] else { continue }
            room.assumeIsolated { room in
                if let head = heads[stream] { room.compare(with: head) } else { room.readAgain() }
            }
        }
    }

    /// Makes a room read its log again if it is live, or as soon as it is.
    func readAgain(_ id: RoomID) {
        switch places[id] {
        case .live(let room):
            room.assumeIsolated { $0.readAgain() }
        case .loading(let visits):
            places[id] = .loading(
                visits + [{ result in if case .success(let room) = result { room.assumeIsolated { $0.readAgain() } } }])
        case nil:
            break
        }
    }
}

extension RoomMetrics.LoadOutcome {
    /// Converts the result of a lookup.
    fileprivate init(_ result: Result<DecodedRoom, RoomFailure>) {
        self =
            switch result {
            case .success: .loaded
            case .failure(.noSuchRoom): .noSuchRoom
            case .failure(.unavailable), .failure(.outcomeUnknown), .failure(.busy), .failure(.refused): .unavailable
            case .failure(.internalFault): .corrupt
            }
    }
}
