/// What a client keeps on the device: rooms, commands without an answer, and the session's token.
///
/// The client calls one method at a time, in the order of what happens, and waits for each. A method returns when its
/// change is durable. A failed change is told to the app (``RoomClient/storeFault``) and does not stop the client: the
/// room or command lives on in memory.
///
/// A store belongs to one session at one server. `RoomClientGRDB` has one in an SQLite file.
public protocol ClientStore: Sendable {
    /// Everything that is needed before the client begins: all but the rooms.
    func load() async throws -> StoredClient
    /// The room of a reference, as it was saved last; nil if it never was.
    func room(_ reference: RoomReference) async throws -> StoredRoom?
    /// Saves a room, in place of what was saved of it.
    func save(_ room: StoredRoom, of reference: RoomReference) async throws
    /// Forgets a room.
    func removeRoom(_ reference: RoomReference) async throws
    /// Keeps a command, in place of what was kept under its ordinal.
    func put(_ command: StoredCommand) async throws
    /// Forgets a command. Its ordinal is never given to another one.
    func removeCommand(_ ordinal: Int) async throws
    /// Keeps the token of the session; nil forgets it, and with it every room and command.
    func setToken(_ token: String?) async throws
}

/// What a store holds, apart from rooms.
public struct StoredClient: Sendable, Hashable {
    /// The session's token; nil if none was kept.
    public var token: String?
    /// The commands, in any order.
    public var outbox: [StoredCommand]
    /// The greatest ordinal that any command was ever kept under; 0 before the first.
    public var lastOrdinal: Int

    /// What a store holds.
    public init(token: String? = nil, outbox: [StoredCommand] = [], lastOrdinal: Int = 0) {
        self.token = token
        self.outbox = outbox
        self.lastOrdinal = lastOrdinal
    }
}

/// A room with the position that it is of.
///
/// A store keeps it whole: a state with another position would lose events.
public struct StoredRoom: Sendable, Hashable {
    /// The epoch of the position.
    public var epoch: String
    /// The number of the last event in the state.
    public var sequence: Int
    /// The room's count of keyed commands, if it was known.
    public var keyed: Int?
    /// The room as JSON, as the protocol answers `GET /v1/rooms/{room}`.
    public var state: [UInt8]

    /// A room to be stored.
    public init(epoch: String, sequence: Int, keyed: Int?, state: [UInt8]) {
        self.epoch = epoch
        self.sequence = sequence
        self.keyed = keyed
        self.state = state
    }
}

/// A command without an answer.
public struct StoredCommand: Sendable, Hashable {
    /// Its place in the order of all commands of the device, which only grows.
    public var ordinal: Int
    /// The reference of its room, as text.
    public var room: String
    /// The key under which it is sent, every time.
    public var key: String
    /// The command as JSON: `{"command":Command}` of the protocol.
    public var command: [UInt8]
    /// The epoch that was known when it was first sent; nil if it never was.
    public var sentEpoch: String?
    /// The room's count of keyed commands when it was first sent, if it was known.
    public var sentKeyed: Int?
    /// The time after which it is not sent any more, in milliseconds since 1970 by the device's clock.
    public var expiresAt: Int64

    /// A command to be stored.
    public init(
        ordinal: Int, room: String, key: String, command: [UInt8], sentEpoch: String?, sentKeyed: Int?,
        expiresAt: Int64
    ) {
        self.ordinal = ordinal
        self.room = room
        self.key = key
        self.command = command
        self.sentEpoch = sentEpoch
        self.sentKeyed = sentKeyed
        self.expiresAt = expiresAt
    }
}
