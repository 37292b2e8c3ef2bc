import EventStorage
import FoundationEssentials
import RoomDomain
package import RoomWire

/// Lists the rooms in which a session is a member; may be used on any thread.
package struct SessionRooms: Sendable {
    /// The most rooms in a list.
    package static let most = 200
    /// The rooms that one request reads side by side.
    private static let sideBySide = 8

    private let registry: RoomRegistry

    init(_ registry: RoomRegistry) {
        self.registry = registry
    }

    /// Returns the open rooms in which a session is a member, the one that it joined last first.
    ///
    /// The log names the rooms, and each room tells the role and the time of joining, at its log's head: the list has
    /// everything that any server acknowledged before. Of more than ``most`` rooms, those that were made last are
    /// listed. Rooms that are not in memory are loaded, so each part of the list waits for a turn
    /// of the asker.
    ///
    /// - Throws: ``RoomFailure/unavailable`` if the log is out of reach, ``RoomFailure/busy`` if the session has too
    ///   many requests waiting.
    package func list(for asker: Asker) async throws(RoomFailure) -> [RoomSummary] {
        let streams: [UUID]
        let entries: [UUID: DirectoryEntry]
        do throws(StorageFault) {
            let store = registry.dependencies.store
            // The ids ascend with the time at which the rooms were made.
            streams = Array(try await store.memberships(of: asker.session.uuid).sorted(by: >).prefix(Self.most))
            guard !streams.isEmpty else { return [] }
            let records = try await store.directory(of: streams)
            entries = Dictionary(uniqueKeysWithValues: records.map { ($0.stream, $0.entry) })
        } catch {
            throw RoomFailure(error)
        }
        var joined: [(room: RoomID, member: Member)] = []
        let registry = registry
        for part in streams.parts(of: Self.sideBySide) {
            let rooms = part.map { RoomID($0) }
            // A turn for each part, so that a long list does not keep others waiting.
            let members = try await registry.dependencies.heavyWork.perform(.log, for: asker) {
                () async throws(RoomFailure) in await Self.members(of: asker.session, in: rooms, registry)
            }
            for found in members {
                if let member = try found.1.get() { joined.append((found.0, member)) }
            }
        }
        joined.sort {
            ($1.member.joinedAt.milliseconds, $1.room.uuid) < ($0.member.joinedAt.milliseconds, $0.room.uuid)
        }
        let listeners = registry.dependencies.presence.counts(of: joined.map(\.room))
        return zip(joined, listeners).compactMap { joined, listeners in
            guard let entry = entries[joined.room.uuid], entry.closedAt == nil else { return nil }
            var summary = RoomSummary(joined.room, entry, listeners: listeners)
            summary.role = joined.member.role
            return summary
        }
    }

    /// The membership in each of these rooms; nil in a room that is closed, has gone, or of which the session is no
    /// member any more.
    private static func members(
        of session: SessionID, in rooms: [RoomID], _ registry: RoomRegistry
    ) async -> [(RoomID, Result<Member?, RoomFailure>)] {
        await withTaskGroup(of: (RoomID, Result<Member?, RoomFailure>).self) { group in
            for room in rooms {
                group.addTask {
                    do throws(RoomFailure) {
                        return (room, .success(try await registry.member(session, of: room)))
                    } catch {
                        switch error {
                        // A room that cannot be read must not hide the others; loading it has logged the fault.
                        case .noSuchRoom, .internalFault, .refused: return (room, .success(nil))
                        case .unavailable, .outcomeUnknown, .busy: return (room, .failure(error))
                        }
                    }
                }
            }
            var found: [(RoomID, Result<Member?, RoomFailure>)] = []
            for await member in group { found.append(member) }
            return found
        }
    }
}

extension RoomRegistry {
    /// The membership of a session in a room, at its log's head; nil if the room is closed, or the session is no member.
    fileprivate func member(_ session: SessionID, of room: RoomID) async throws(RoomFailure) -> Member? {
        try await withRoom(room) { room in
            guard room.confirmed.isOpen else { return nil }
            return room.confirmed.memberOfSession[session].flatMap { room.confirmed.members[$0] }
        }
    }
}
