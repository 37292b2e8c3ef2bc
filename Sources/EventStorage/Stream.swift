package import FoundationEssentials

/// How far a stream has come: its events and its keyed commands, both counted from 1 without holes.
///
/// Keyed commands are counted apart from events because one that changes nothing is remembered without an event.
package struct StreamVersion: Hashable, Sendable {
    /// The number of the last event; 0 where there is none.
    package var seq: Int
    /// The ordinal of the last keyed command; 0 where there is none.
    package var keyed: Int

    package init(seq: Int, keyed: Int) {
        self.seq = seq
        self.keyed = keyed
    }

    /// The version of a stream that does not exist yet.
    package static let start = StreamVersion(seq: 0, keyed: 0)
}

/// Where a stream stands.
package struct StreamHead: Hashable, Sendable {
    /// Random text fixed when the stream is made; a position is meaningful only together with it.
    package var epoch: String
    /// The stream's version.
    package var version: StreamVersion

    package init(epoch: String, version: StreamVersion) {
        self.epoch = epoch
        self.version = version
    }
}

/// One event as the log keeps it.
package struct StoredEvent: Hashable, Sendable {
    /// Its number in the stream, from 1.
    package var seq: Int
    /// When it was recorded, milliseconds since the Unix epoch.
    package var at: Int64
    /// Its type's name.
    package var type: String
    /// A JSON object.
    ///
    /// A store may change its white space and the order of its members, nothing else.
    package var payload: [UInt8]
    /// What its writer computed over it, kept as it is; nil where it was written without.
    package var checksum: Int64?

    package init(seq: Int, at: Int64, type: String, payload: [UInt8], checksum: Int64? = nil) {
        self.seq = seq
        self.at = at
        self.type = type
        self.payload = payload
        self.checksum = checksum
    }
}

/// A keyed command that was carried out, remembered so that a retry gets the first outcome.
package struct CommandKey: Hashable, Sendable {
    /// How many keyed commands of a stream are remembered, the newest first; older ones are overwritten.
    package static let window = 1_000
    /// The fingerprint of a command or creation of a stream that was forgotten: a hash would tell who guesses a name
    /// that the guess is right.
    package static let forgotten: Int64 = 0

    /// Its number among the stream's keyed commands, from 1.
    package var ordinal: Int
    /// The session that gave the key.
    package var session: UUID
    /// The key, as the client chose it.
    package var key: String
    /// A hash of the command, to tell a retry from another command under the same key; ``forgotten`` where the command
    /// is not known any more.
    package var fingerprint: Int64
    /// The position that was acknowledged.
    package var seq: Int
    /// The result that was acknowledged, JSON text.
    package var result: [UInt8]?
    /// What its writer computed over it, kept as it is; nil where it was written without.
    package var checksum: Int64?

    package init(
        ordinal: Int, session: UUID, key: String, fingerprint: Int64, seq: Int, result: [UInt8]?,
        checksum: Int64? = nil
    ) {
        self.ordinal = ordinal
        self.session = session
        self.key = key
        self.fingerprint = fingerprint
        self.seq = seq
        self.result = result
        self.checksum = checksum
    }
}

/// What one stream gets in an append.
package struct StreamAppend: Sendable {
    /// The stream.
    package var stream: UUID
    /// The version the writer decided against.
    package var expected: StreamVersion
    /// The epoch of the log that the writer decided against; nil where any will do.
    package var epoch: String?
    /// The events, numbered from `expected.seq + 1`; may be empty.
    package var events: [StoredEvent]
    /// The keyed commands, numbered from `expected.keyed + 1`; may be empty.
    package var keys: [CommandKey]
    /// The stream's new directory entry, where it changed.
    package var directory: DirectoryEntry?
    /// Sessions that became members.
    package var joined: [UUID]
    /// Sessions that are members no longer.
    ///
    /// A session in both `joined` and `left` of one append ends as `left` says only where it is not a member after the
    /// last event; the writer gives each session in at most one of the two.
    package var left: [UUID]
    /// When it was asked that the stream be forgotten, in milliseconds since the Unix epoch; nil where these events do
    /// not ask for it.
    ///
    /// The stream is closed by then: it gets no more events.
    package var forgetAt: Int64?
    /// The number of the last of these events that takes something out of all events before it; nil where none does.
    ///
    /// From then on the stream has ``StreamErasure/streamsToClear(after:limit:)`` name it until that is done, and no
    /// snapshot of before is kept. Where the stream is to be forgotten, it has no clearing any more.
    package var clearing: Int?

    package init(
        stream: UUID, expected: StreamVersion, events: [StoredEvent], keys: [CommandKey] = [],
        directory: DirectoryEntry? = nil, joined: [UUID] = [], left: [UUID] = [], forgetAt: Int64? = nil,
        clearing: Int? = nil, epoch: String? = nil
    ) {
        self.stream = stream
        self.expected = expected
        self.epoch = epoch
        self.events = events
        self.keys = keys
        self.directory = directory
        self.joined = joined
        self.left = left
        self.forgetAt = forgetAt
        self.clearing = clearing
    }

    /// The version the stream has once this is appended.
    package var resulting: StreamVersion {
        StreamVersion(seq: expected.seq + events.count, keyed: expected.keyed + keys.count)
    }
}

/// What became of one stream's part of an append.
package enum AppendOutcome: Hashable, Sendable {
    /// It is durable.
    case appended
    /// The stream's version or epoch was not the expected one, or there is no such stream; nothing of it was written.
    case conflict
}

/// A stream to be made.
package struct StreamCreation: Sendable {
    /// The first append; its expected version is ``StreamVersion/start`` and its directory entry is given.
    package var first: StreamAppend
    /// The stream's epoch.
    package var epoch: String
    /// What its writer computed over the stream's id and epoch, kept as it is.
    package var checksum: Int64?
    /// The session that makes it.
    package var creator: UUID
    /// The creator's idempotency key, where it gave one.
    package var key: String?
    /// A hash of the request, kept beside the key.
    package var fingerprint: Int64
    /// When it is made, milliseconds since the Unix epoch.
    package var at: Int64
    /// Keys of creations before this instant are forgotten.
    package var keysSince: Int64
    /// How many open streams one session may own.
    package var ownerLimit: Int

    package init(
        first: StreamAppend, epoch: String, checksum: Int64? = nil, creator: UUID, key: String?, fingerprint: Int64,
        at: Int64, keysSince: Int64, ownerLimit: Int
    ) {
        self.first = first
        self.epoch = epoch
        self.checksum = checksum
        self.creator = creator
        self.key = key
        self.fingerprint = fingerprint
        self.at = at
        self.keysSince = keysSince
        self.ownerLimit = ownerLimit
    }
}

/// What became of a creation.
package enum CreationOutcome: Hashable, Sendable {
    /// The stream is made and durable.
    case created
    /// The same session made this stream under the same key at or after `keysSince`.
    case existing(stream: UUID, fingerprint: Int64)
    /// An open stream has this code.
    case codeTaken
    /// The creator owns `ownerLimit` open streams, or more.
    case ownerLimitReached
}

/// A stream as read for bringing it to life.
package struct LoadedStream: Sendable {
    /// Where the stream stands.
    package var head: StreamHead
    /// The snapshot the events follow on, if there is one.
    package var snapshot: StoredSnapshot?
    /// All events after the snapshot, or after the version asked for, up to the head.
    package var events: [StoredEvent]
    /// Remembered keyed commands, ascending by ordinal.
    package var keys: [CommandKey]

    package init(head: StreamHead, snapshot: StoredSnapshot?, events: [StoredEvent], keys: [CommandKey]) {
        self.head = head
        self.snapshot = snapshot
        self.events = events
        self.keys = keys
    }
}

/// The fold of a stream's events up to a position.
package struct StoredSnapshot: Hashable, Sendable {
    /// The last event in it.
    package var seq: Int
    /// The version of the code that made it; a reader asks for its own and never sees another's.
    package var reducerVersion: Int
    /// The state, opaque bytes.
    package var state: [UInt8]
    /// What its writer computed over it, kept as it is; nil where it was written without.
    package var checksum: Int64?

    package init(seq: Int, reducerVersion: Int, state: [UInt8], checksum: Int64? = nil) {
        self.seq = seq
        self.reducerVersion = reducerVersion
        self.state = state
        self.checksum = checksum
    }

    /// The first position of the span that it is in, where spans are so many events long.
    package func start(ofSpan span: Int) -> Int {
        seq - seq % max(1, span)
    }
}
