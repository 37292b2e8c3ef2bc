package import FoundationEssentials

/// A stream's position: the numbers of its events and of its keyed commands, both counted from 1 without gaps.
///
/// Keyed commands are counted separately, because one that changes nothing is remembered without an event. The numbers
/// alone do not tell one history from another: a log that has lost its last events counts on with others.
package struct StreamVersion: Hashable, Sendable {
    /// The number of the last event; 0 if there is none.
    package var seq: Int
    /// The ordinal of the last keyed command; 0 if there is none.
    package var keyed: Int
    /// The checksum of the last event, as its writer computed it; nil if it is not known.
    package var tail: Int64?

    package init(seq: Int, keyed: Int, tail: Int64? = nil) {
        self.seq = seq
        self.keyed = keyed
        self.tail = tail
    }

    /// Whether a log at `head` is where a writer at this version believes it to be: a tail that is not known is any.
    package func isMet(by head: StreamVersion) -> Bool {
        seq == head.seq && keyed == head.keyed && (tail == nil || head.tail == nil || tail == head.tail)
    }

    /// The version of a stream that does not exist yet.
    package static let start = StreamVersion(seq: 0, keyed: 0)
}

/// The head of a stream: its epoch and its version.
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

/// One event as the log stores it.
package struct StoredEvent: Hashable, Sendable {
    /// Its number in the stream, from 1.
    package var seq: Int
    /// The time when it was recorded, in milliseconds since the Unix epoch.
    package var at: Int64
    /// Its type's name.
    package var type: String
    /// A JSON object.
    ///
    /// A store may change only its white space and the order of its members.
    package var payload: [UInt8]
    /// The checksum that its writer computed, stored unchanged; nil if it was written without one.
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
    /// The number of a stream's keyed commands that are remembered; newer ones overwrite older ones.
    package static let window = 1_000
    /// The fingerprint of a command or creation of a forgotten stream: the real hash would confirm a guess of a name.
    package static let forgotten: Int64 = 0

    /// Its number among the stream's keyed commands, from 1.
    package var ordinal: Int
    /// The session that gave the key.
    package var session: UUID
    /// The key, as the client chose it.
    package var key: String
    /// A hash of the command, to tell a retry from another command under the same key; ``forgotten`` if the command is
    /// no longer known.
    package var fingerprint: Int64
    /// The position that was acknowledged.
    package var seq: Int
    /// The result that was acknowledged, JSON text.
    package var result: [UInt8]?
    /// The checksum that its writer computed, stored unchanged; nil if it was written without one.
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

/// One stream's part of an append.
package struct StreamAppend: Hashable, Sendable {
    /// The stream.
    package var stream: UUID
    /// The version on which the writer decided.
    package var expected: StreamVersion
    /// The epoch of the log on which the writer decided; nil accepts any epoch.
    package var epoch: String?
    /// The events, numbered from `expected.seq + 1`; may be empty.
    package var events: [StoredEvent]
    /// The keyed commands, numbered from `expected.keyed + 1`; may be empty.
    package var keys: [CommandKey]
    /// The stream's new directory entry; nil if it has not changed.
    package var directory: DirectoryEntry?
    /// Sessions that became members.
    package var joined: [UUID]
    /// Sessions whose memberships ended.
    ///
    /// A writer lists each session in at most one of `joined` and `left`, by whether it is a member after the last
    /// event.
    package var left: [UUID]
    /// The time at which forgetting the stream was requested, in milliseconds since the Unix epoch; nil if these events
    /// do not request it.
    ///
    /// The stream is then closed and gets no more events.
    package var forgetAt: Int64?
    /// The number of the last of these events that clears data from all events before it; nil if none does.
    ///
    /// From then on ``StreamErasure/streamsToClear(after:limit:)`` returns the stream until the clearing is done, and
    /// no snapshot from before is kept. A stream that is to be forgotten has no clearing any more.
    package var clearing: Int?
    /// Changes of attachments, each name once.
    package var attachments: [AttachmentChange]

    package init(
        stream: UUID, expected: StreamVersion, events: [StoredEvent], keys: [CommandKey] = [],
        directory: DirectoryEntry? = nil, joined: [UUID] = [], left: [UUID] = [], forgetAt: Int64? = nil,
        clearing: Int? = nil, attachments: [AttachmentChange] = [], epoch: String? = nil
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
        self.attachments = attachments
    }

    /// The stream's version after this append.
    package var resulting: StreamVersion {
        StreamVersion(
            seq: expected.seq + events.count, keyed: expected.keyed + keys.count,
            tail: events.last.map(\.checksum) ?? expected.tail)
    }
}

/// The result of one stream's part of an append.
package enum AppendOutcome: Hashable, Sendable {
    /// It is durable.
    case appended
    /// The stream's version or epoch was not the expected one, or there is no such stream; nothing of this part was
    /// written.
    case conflict
}

/// A request to make a stream.
package struct StreamCreation: Sendable {
    /// The first append; its expected version is ``StreamVersion/start`` and its directory entry is given.
    package var first: StreamAppend
    /// The stream's epoch.
    package var epoch: String
    /// The checksum of the stream's id and epoch, stored unchanged.
    package var checksum: Int64?
    /// The session that makes it.
    package var creator: UUID
    /// The creator's idempotency key; nil if it gave none.
    package var key: String?
    /// A hash of the request, stored with the key.
    package var fingerprint: Int64
    /// The time when it is made, in milliseconds since the Unix epoch.
    package var at: Int64
    /// Keys of creations before this instant are forgotten.
    package var keysSince: Int64
    /// The number of open streams that one session may own.
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

/// The result of a creation.
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

/// The rows of a stream that are needed to load it.
package struct LoadedStream: Sendable {
    /// The stream's head.
    package var head: StreamHead
    /// The snapshot that the events follow, if there is one.
    package var snapshot: StoredSnapshot?
    /// All events after the snapshot, or after the requested version, up to the head.
    package var events: [StoredEvent]
    /// Remembered keyed commands, ascending by ordinal.
    package var keys: [CommandKey]
    /// Whether the log still has what it had at the requested version.
    ///
    /// False where its head is before that version, or another event stands at that number than ``StreamVersion/tail``
    /// says: the log has lost its last events. An event that was cleared counts as the same one.
    package var continues = true

    package init(
        head: StreamHead, snapshot: StoredSnapshot?, events: [StoredEvent], keys: [CommandKey], continues: Bool = true
    ) {
        self.continues = continues
        self.head = head
        self.snapshot = snapshot
        self.events = events
        self.keys = keys
    }
}

/// The fold of a stream's events up to a position.
package struct StoredSnapshot: Hashable, Sendable {
    /// The number of the last event in it.
    package var seq: Int
    /// The version of the code that made it; a reader asks for its own version and never sees others.
    package var reducerVersion: Int
    /// The state, as opaque bytes.
    package var state: [UInt8]
    /// The checksum that its writer computed, stored unchanged; nil if it was written without one.
    package var checksum: Int64?

    package init(seq: Int, reducerVersion: Int, state: [UInt8], checksum: Int64? = nil) {
        self.seq = seq
        self.reducerVersion = reducerVersion
        self.state = state
        self.checksum = checksum
    }

    /// The first position of the span that contains the snapshot, for spans of `span` events.
    package func start(ofSpan span: Int) -> Int {
        seq - seq % max(1, span)
    }
}

// Of arrays, since a generic member is not specialised for its callers in other modules.
extension [StoredEvent] {
    /// The bytes of all their payloads.
    package var payloadBytes: Int { reduce(0) { $0 + $1.payload.count } }
}
