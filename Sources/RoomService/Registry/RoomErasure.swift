import EventStorage
import FoundationEssentials
import Logging
import NIOCore
import RoomDomain
import RoomLog
import RoomWire

/// Removes data from the log: rooms to be forgotten, earlier locations, rooms closed long ago, and waveforms that no
/// track has.
///
/// Each server on a log does this. No work is claimed: what two servers do at once takes effect once, or gives the same
/// result twice.
struct RoomErasure: Sendable {
    private let registry: RoomRegistry
    private let store: any EventStore
    private let settings: RoomHostSettings
    private let clock: ServerClock
    private let randomness: ServerRandomness
    private let logger: Logger

    init(registry: RoomRegistry, randomness: ServerRandomness) {
        self.registry = registry
        self.randomness = randomness
        store = registry.dependencies.store
        settings = registry.dependencies.settings
        clock = registry.dependencies.clock
        logger = registry.dependencies.logger
    }

    /// The rounds of forgetting between two rounds of removing.
    private static let roundsPerRemoval = 10
    /// The number of rooms removed in one transaction, and of rooms forgotten in one round.
    private static let roomsPerRound = 100
    /// The deletions of removed rooms' remains in one round: more than rooms are removed, so that little waits.
    private static let sweepsPerRound = 300
    /// The number of events rewritten or deleted in one transaction, so that no append waits long.
    private static let eventsPerPage = 500
    /// The number of waveforms deleted in one transaction.
    private static let waveformsPerPage = 500
    /// The transactions that delete waveforms in one round: more are deleted than rooms may make.
    private static let waveformPagesPerRound = 10

    /// Forgets rooms at the request of their owners, removes locations that were cleared, and removes rooms that were
    /// closed long ago, until cancelled.
    ///
    /// Each round does a limited amount of each, so that none waits long for the others.
    func run() async {
        var rounds = 0
        var (isLeftToRemove, areWaveformsLeft) = (false, false)
        var unreadable: Set<UUID> = []
        var lastCleared: UUID?
        while !Task.isCancelled {
            await clock.sleep(for: settings.comparisonInterval)
            rounds += 1
            await forgetRooms(except: &unreadable)
            await clearRooms(after: &lastCleared, except: &unreadable)
            if areWaveformsLeft || rounds % Self.roundsPerRemoval == 0 { areWaveformsLeft = await removeWaveforms() }
            if isLeftToRemove || rounds % Self.roundsPerRemoval == 0 { isLeftToRemove = await removeClosedRooms() }
        }
    }

    // MARK: Waveforms

    /// Deletes waveforms that no track has had for a day, a limited number in a call; returns whether more are left.
    ///
    /// Only the log's own marks count: they are written with the events, so a waveform that a track has again is not
    /// marked any more.
    private func removeWaveforms() async -> Bool {
        let instant = clock.now.milliseconds - settings.retainUnneededWaveformsMs
        for _ in 0..<Self.waveformPagesPerRound where !Task.isCancelled {
            do {
                let removed = try await store.removeAttachments(
                    unneededSinceBefore: instant, limit: Self.waveformsPerPage)
                if removed > 0 { logger.debug("Waveforms were removed", metadata: ["waveforms": "\(removed)"]) }
                if removed < Self.waveformsPerPage { return false }
            } catch {
                logger.debug("Waveforms could not be removed", metadata: ["fault": "\(error)"])
                return false
            }
        }
        return true
    }

    // MARK: Forgetting

    /// A room whose log this program cannot read is reported once and not tried again.
    private func forgetRooms(except unreadable: inout Set<UUID>) async {
        // The oldest requests come first, and the unreadable rooms are among them.
        let limit = Self.roomsPerRound + unreadable.count
        guard let streams = try? await store.streamsToForget(limit: limit) else { return }
        for stream in streams where !Task.isCancelled && !unreadable.contains(stream) {
            let room = RoomID(stream)
            do {
                try await forget(room)
                logger.debug("A room was forgotten", metadata: ["room": "\(room)"])
            } catch let fault where Self.isUnreadable(fault) {
                unreadable.insert(stream)
                logger.error(
                    "A room cannot be forgotten: its log cannot be read",
                    metadata: ["room": "\(room)", "fault": "\(fault)"])
            } catch {
                logger.debug("A room could not be forgotten", metadata: ["room": "\(room)", "fault": "\(error)"])
            }
        }
    }

    // MARK: Clearing locations

    /// Visits all rooms whose locations are to be cleared in a cycle, a limited number in a call, so that no room waits
    /// for those that are cleared again and again.
    private func clearRooms(after last: inout UUID?, except unreadable: inout Set<UUID>) async {
        guard let clearings = try? await store.streamsToClear(after: last, limit: Self.roomsPerRound) else { return }
        last = clearings.count < Self.roomsPerRound ? nil : clearings.last?.stream
        for clearing in clearings where !Task.isCancelled && !unreadable.contains(clearing.stream) {
            let room = RoomID(clearing.stream)
            do {
                try await clear(clearing)
                logger.debug("A room's earlier locations were cleared", metadata: ["room": "\(room)"])
            } catch let fault where Self.isUnreadable(fault) {
                unreadable.insert(clearing.stream)
                logger.error(
                    "A room's earlier locations cannot be cleared: its log cannot be read",
                    metadata: ["room": "\(room)", "fault": "\(fault)"])
            } catch {
                logger.debug(
                    "A room's earlier locations could not be cleared",
                    metadata: ["room": "\(room)", "fault": "\(error)"])
            }
        }
    }

    /// Rewrites the events before a clearing without their locations, while the room continues.
    ///
    /// Events that an earlier clearing has rewritten are not visited again. After an interruption, it continues from
    /// the last page with something to rewrite.
    private func clear(_ clearing: StreamClearing) async throws {
        let room = RoomID(clearing.stream)
        var seq = clearing.cleared
        while seq < clearing.clearing - 1 {
            let limit = min(Self.eventsPerPage, clearing.clearing - 1 - seq)
            let page = try await store.read(room.uuid, after: seq, limit: limit)
            guard let last = page.last else { break }
            seq = last.seq
            let rewritten = try page.filter { EventJSON.mayHaveLocation(type: $0.type) }.compactMap { stored in
                let recorded = try EventJSON.recorded(stored)
                let shown = Redaction(clearing: clearing.clearing).shown(recorded)
                return shown == recorded ? nil : EventJSON.stored(shown, in: room)
            }
            if !rewritten.isEmpty { try await store.clear(rewritten, of: room.uuid, through: seq) }
            guard !Task.isCancelled else { return }
        }
        try await store.clear([], of: room.uuid, through: clearing.clearing)
    }

    /// Whether a further attempt would fail in the same way.
    private static func isUnreadable(_ fault: any Error) -> Bool {
        switch fault {
        case is StoredEventFault, StorageFault.rejected, StorageFault.corrupt: true
        default: false
        }
    }

    /// Rewrites the log of a room that is closed for good; after an interruption, it starts from the beginning.
    private func forget(_ room: RoomID) async throws {
        // Statistics go first, even if the log cannot be read.
        try await store.rewrite([], of: room.uuid)
        var seq = 0
        while true {
            let page = try await store.read(room.uuid, after: seq, limit: Self.eventsPerPage)
            guard let last = page.last else { break }
            seq = last.seq
            let rewritten = try page.compactMap { stored in
                let recorded = try EventJSON.recorded(stored)
                let bare = recorded.withoutPersonalData
                return bare == recorded ? nil : EventJSON.stored(bare, in: room)
            }
            if !rewritten.isEmpty { try await store.rewrite(rewritten, of: room.uuid) }
            guard !Task.isCancelled else { return }
        }
        try await store.endForgetting(
            EpochRenewal(of: room, random: randomness.next()), at: clock.now.milliseconds)
        registry.readAgain(room)
    }

    // MARK: Removing

    /// Does one round's share of removals; returns whether there is more to do.
    private func removeClosedRooms() async -> Bool {
        do {
            var isMore = false
            if let age = settings.retainClosedRoomsMs {
                let streams = try await store.removeStreams(
                    closedBefore: clock.now.milliseconds - age, limit: Self.roomsPerRound)
                for stream in streams { registry.readAgain(RoomID(stream)) }
                if !streams.isEmpty {
                    logger.info("Closed rooms were removed", metadata: ["rooms": "\(streams.count)"])
                }
                isMore = streams.count == Self.roomsPerRound
            }
            // This includes the remains that another process left when it was stopped.
            for _ in 0..<Self.sweepsPerRound where !Task.isCancelled {
                guard try await store.sweep(limit: Self.eventsPerPage) else { return isMore }
            }
            return true
        } catch {
            logger.debug("Closed rooms could not be removed", metadata: ["fault": "\(error)"])
            return false
        }
    }
}
