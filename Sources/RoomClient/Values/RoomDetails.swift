import GeoSearch
import RoomDomain
import RoomReplica

/// A room's own values.
public struct RoomDetails: Sendable, Hashable {
    /// The name.
    public let name: String
    /// When the room was closed; nil while it is open.
    public let closedAt: ServerTime?
    /// Whether it can be found without its code.
    public let visibility: Visibility
    /// Where it is, rounded by the server; nil if nobody has told.
    public let location: Location?
    /// The owner's settings.
    public let settings: RoomSettings

    init(_ properties: RoomProperties) {
        name = properties.name
        closedAt = properties.closedAt.map { ServerTime($0) }
        visibility = Visibility(properties.visibility)
        location = properties.location.map { Location($0.coordinate) }
        settings = RoomSettings(properties.settings)
    }
}

/// How a room chooses what is played next.
public enum QueueMode: String, Sendable, Hashable, CaseIterable {
    /// The DJ decides.
    case dj
    /// When the queue is empty, the request with most votes is next.
    case votes
    /// Members take turns.
    case fair

    init(_ domain: RoomDomain.QueueMode) {
        switch domain {
        case .dj: self = .dj
        case .votes: self = .votes
        case .fair: self = .fair
        }
    }

    var domain: RoomDomain.QueueMode {
        switch self {
        case .dj: .dj
        case .votes: .votes
        case .fair: .fair
        }
    }
}

/// An owner's settings of a room; the defaults are the server's.
public struct RoomSettings: Sendable, Hashable {
    /// How the room chooses what is played next.
    public var queueMode: QueueMode
    /// The part of those online that must vote to skip; 0 turns votes to skip off.
    public var skipRatio: Double
    /// The most waiting entries of one member; 0: any number.
    public var maxWaitingPerMember: Int
    /// The number of other plays after which a track may be played again; 0: at once.
    public var repeatAfterPlays: Int
    /// Whether guests may add tracks.
    public var guestsMayAdd: Bool
    /// Whether only the owner and DJs may add to the queue.
    public var queueLocked: Bool
    /// The time between two additions of a guest.
    public var slowMode: Duration
    /// The time after which an owner who is away is replaced; zero: never.
    public var ownerAway: Duration
    /// Whether the room counts in statistics across rooms.
    public var countedAcrossRooms: Bool

    /// The defaults.
    public init() { self.init(RoomDomain.RoomSettings()) }

    init(_ domain: RoomDomain.RoomSettings) {
        queueMode = QueueMode(domain.queueMode)
        skipRatio = domain.skipRatio
        maxWaitingPerMember = domain.maxWaitingPerMember
        repeatAfterPlays = domain.repeatAfterPlays
        guestsMayAdd = domain.guestsMayAdd
        queueLocked = domain.queueLocked
        slowMode = .milliseconds(domain.slowModeMs)
        ownerAway = .milliseconds(domain.ownerAwayMs)
        countedAcrossRooms = domain.countedAcrossRooms
    }

    /// The settings that differ from others, as a server takes them.
    func update(from other: RoomSettings = RoomSettings()) -> SettingsUpdate {
        func changed<Value: Equatable>(_ value: Value, _ before: Value) -> Value? { value == before ? nil : value }
        var update = SettingsUpdate()
        update.queueMode = changed(queueMode, other.queueMode)?.domain
        update.skipRatio = changed(skipRatio, other.skipRatio)
        update.maxWaitingPerMember = changed(maxWaitingPerMember, other.maxWaitingPerMember)
        update.repeatAfterPlays = changed(repeatAfterPlays, other.repeatAfterPlays)
        update.guestsMayAdd = changed(guestsMayAdd, other.guestsMayAdd)
        update.queueLocked = changed(queueLocked, other.queueLocked)
        update.slowModeMs = changed(slowMode, other.slowMode).map { Int($0.wholeMilliseconds) }
        update.ownerAwayMs = changed(ownerAway, other.ownerAway).map { Int($0.wholeMilliseconds) }
        update.countedAcrossRooms = changed(countedAcrossRooms, other.countedAcrossRooms)
        return update
    }
}
