import Synchronization

/// A store that lives as long as the program.
public final class MemoryStore: ClientStore {
    private struct Contents {
        var client = StoredClient()
        var rooms: [RoomReference: StoredRoom] = [:]
    }

    private let contents = Mutex(Contents())

    /// An empty store.
    public init() {}

    /// Everything but the rooms.
    public func load() async -> StoredClient { contents.withLock { $0.client } }

    /// The room of a reference, if it was saved.
    public func room(_ reference: RoomReference) async -> StoredRoom? { contents.withLock { $0.rooms[reference] } }

    /// Saves a room.
    public func save(_ room: StoredRoom, of reference: RoomReference) async {
        contents.withLock { $0.rooms[reference] = room }
    }

    /// Forgets a room.
    public func removeRoom(_ reference: RoomReference) async {
        contents.withLock { $0.rooms[reference] = nil }
    }

    /// Keeps a command.
    public func put(_ command: StoredCommand) async {
        contents.withLock { contents in
            contents.client.outbox.removeAll { $0.ordinal == command.ordinal }
            contents.client.outbox.append(command)
            contents.client.lastOrdinal = max(contents.client.lastOrdinal, command.ordinal)
        }
    }

    /// Forgets a command.
    public func removeCommand(_ ordinal: Int) async {
        contents.withLock { contents in contents.client.outbox.removeAll { $0.ordinal == ordinal } }
    }

    /// Keeps the token; nil forgets everything.
    public func setToken(_ token: String?) async {
        contents.withLock { contents in
            contents.client.token = token
            guard token == nil else { return }
            contents.client.outbox = []
            contents.rooms = [:]
        }
    }
}
