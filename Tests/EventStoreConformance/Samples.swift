import EventStorage
import FoundationEssentials
import RandomTestSupport

/// The `n`th of a series of ascending UUIDv7s that differ in their first bytes.
func id(_ n: Int) -> UUID {
    let time = UInt64(0x0197_0000_0000) + UInt64(n) * 0x0000_4733_1F05
    var mixer = SeededRandom(seed: UInt64(n))
    let random = mixer.next()
    var bytes = (0..<8).map { UInt8(truncatingIfNeeded: time >> UInt64(40 - min(40, 8 * $0))) }
    bytes += (0..<8).map { UInt8(truncatingIfNeeded: random >> UInt64(56 - 8 * $0)) }
    bytes[6] = 0x70 | (bytes[7] & 0x0f)
    bytes[8] = 0x80 | (bytes[8] & 0x3f)
    return UUID(
        uuid: (
            bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
            bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
        ))
}

/// An instant in 2026, milliseconds since the Unix epoch.
let noon: Int64 = 1_782_000_000_000

/// The code of the `n`th stream.
func code(_ n: Int) -> String {
    let digits = String(n)
    return "R" + String(repeating: "0", count: max(0, 5 - digits.count)) + digits
}

/// The directory entry of the `n`th stream.
func entry(_ n: Int, owner: UUID? = nil, name: String? = nil) -> DirectoryEntry {
    DirectoryEntry(
        code: code(n), name: name ?? "Room \(n)", isPublic: true, createdAt: noon + Int64(n), owner: owner)
}

/// `count` events that follow `seq`; `tag` distinguishes writers.
func events(after seq: Int, count: Int, tag: String = "") -> [StoredEvent] {
    (0..<count).map { index in
        let seq = seq + 1 + index
        return StoredEvent(
            seq: seq, at: noon + Int64(seq), type: "voteCast", payload: Array(#"{"n":\#(seq),"tag":"\#(tag)"}"#.utf8))
    }
}

/// An append of events whose checksums are their numbers.
func sealed(_ n: Int, after expected: StreamVersion, count: Int) -> StreamAppend {
    let events = events(after: expected.seq, count: count).map { event in
        var event = event
        event.checksum = Int64(event.seq)
        return event
    }
    return StreamAppend(stream: id(n), expected: expected, events: events)
}

/// `count` keys that follow `ordinal`.
func keys(after ordinal: Int, count: Int, seq: Int = 0, session: UUID = id(900)) -> [CommandKey] {
    (0..<count).map { index in
        let ordinal = ordinal + 1 + index
        return CommandKey(
            ordinal: ordinal, session: session, key: "key-\(ordinal)", fingerprint: Int64(ordinal), seq: seq,
            result: ordinal.isMultiple(of: 2) ? nil : Array(#"{"entry":\#(ordinal)}"#.utf8))
    }
}

/// A creation of the `n`th stream by `creator`, with two events.
func creation(
    _ n: Int, creator: UUID = id(800), key: String? = nil, fingerprint: Int64 = 7, at: Int64 = noon,
    keysSince: Int64 = noon - 1_000, ownerLimit: Int = 100, entry changed: DirectoryEntry? = nil
) -> StreamCreation {
    StreamCreation(
        first: StreamAppend(
            stream: id(n), expected: .start, events: events(after: 0, count: 2),
            directory: changed ?? entry(n, owner: creator), joined: [creator]),
        epoch: "epoch-\(n)", creator: creator, key: key, fingerprint: fingerprint, at: at, keysSince: keysSince,
        ownerLimit: ownerLimit)
}

/// The version of a stream made by ``creation(_:creator:key:fingerprint:at:keysSince:ownerLimit:entry:)``.
let made = StreamVersion(seq: 2, keyed: 0)

/// A check cannot continue.
struct CheckFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

extension EventStore {
    /// Makes the streams of these numbers, in the order given.
    func makeStreams(_ numbers: some Sequence<Int>) async throws {
        for n in numbers {
            let outcome = try await create(creation(n, ownerLimit: .max))
            guard outcome == .created else { throw CheckFailure("stream \(n) was not made: \(outcome)") }
        }
    }

    /// Appends what nobody hinders.
    func append(_ part: StreamAppend) async throws {
        guard try await append([part]) == [.appended] else { throw CheckFailure("an append was refused") }
    }

    /// A whole stream, without its snapshot.
    func whole(_ stream: UUID) async throws -> ParsedStream {
        guard let loaded = try await load(stream, reducerVersion: -1, after: nil) else {
            throw CheckFailure("stream \(stream) does not exist")
        }
        return ParsedStream(loaded)
    }

    /// A stream's entry.
    func listedEntry(of stream: UUID) async throws -> DirectoryEntry? {
        try await directory(of: [stream]).first?.entry
    }
}
