import EventStorage
import FoundationEssentials
import RandomTestSupport

/// One call of a store, whose answer can be compared.
enum StoreOperation {
    case create(StreamCreation)
    case append([StreamAppend])
    case load(UUID, reducerVersion: Int, after: StreamVersion?)
    case read(UUID, after: Int, limit: Int)
    case heads([UUID])
    case snapshot(UUID, atMost: Int, reducerVersion: Int)
    case save(StoredSnapshot, UUID, oneIn: Int)
    case streamOfCode(String)
    case directory([UUID])
    case listing(matching: String?, before: UUID?, limit: Int)
    case memberships(UUID)

    /// Carries out the call.
    func answer(of store: any EventStore) async throws(StorageFault) -> StoreAnswer {
        switch self {
        case .create(let creation): .created(try await store.create(creation))
        case .append(let batch): .outcomes(try await store.append(batch))
        case .load(let stream, let reducerVersion, let after):
            .stream(try await store.load(stream, reducerVersion: reducerVersion, after: after).map(ParsedStream.init))
        case .read(let stream, let after, let limit):
            .events(try await store.read(stream, after: after, limit: limit).map(ParsedEvent.init))
        case .heads(let streams): .heads(try await store.heads(of: streams))
        case .snapshot(let stream, let seq, let reducerVersion):
            .snapshot(try await store.snapshot(of: stream, atMost: seq, reducerVersion: reducerVersion))
        case .save(let snapshot, let stream, let span):
            .saved(try await store.save(snapshot, of: stream, in: nil, oneIn: span))
        case .streamOfCode(let code): .id(try await store.stream(code: code))
        case .directory(let streams): .unordered(Set(try await store.directory(of: streams)))
        case .listing(let matching, let before, let limit):
            .records(try await store.openPublicStreams(matching: matching, before: before, limit: limit))
        case .memberships(let session): .ids(Set(try await store.memberships(of: session)))
        }
    }
}

/// A store's answer to a ``StoreOperation``.
enum StoreAnswer: Hashable {
    case created(CreationOutcome)
    case outcomes([AppendOutcome])
    case stream(ParsedStream?)
    case events([ParsedEvent])
    case heads([UUID: StreamHead])
    case snapshot(StoredSnapshot?)
    case saved
    case id(UUID?)
    case unordered(Set<DirectoryRecord>)
    case records([DirectoryRecord])
    case ids(Set<UUID>)

    static func saved(_: Void) -> StoreAnswer { .saved }
}

/// Draws operations that often match the store's state and often do not.
struct RandomHistory {
    /// Sessions that join and leave.
    static let sessions = (810..<815).map(id)

    private var random: SeededRandom
    /// The number of possible streams.
    private let streams: Int
    /// The assumed version of each stream.
    private var versions: [Int: StreamVersion] = [:]
    private var closed: Set<Int> = []
    private let sharesCodes: Bool
    private var clock = noon

    /// Starts without assumptions.
    ///
    /// - Parameters:
    ///   - seed: The seed of the whole history.
    ///   - streams: The number of possible streams.
    ///   - sharesCodes: Whether every two streams share a code.
    init(seed: UInt64, streams: Int, sharesCodes: Bool) {
        random = SeededRandom(seed: seed)
        self.streams = streams
        self.sharesCodes = sharesCodes
    }

    /// Takes over the versions that a store reports.
    mutating func take(heads: [UUID: StreamHead]) {
        for n in 0..<streams {
            versions[n] = heads[id(n)]?.version
        }
    }

    mutating func next() -> StoreOperation {
        clock += 1
        let n = pick(streams + 1)
        return switch pick(14) {
        case 0, 1: create(n)
        case 2, 3, 4, 5: .append(batch(alwaysMoving: false))
        case 6: .load(id(n), reducerVersion: pick(2), after: chance(2) ? nil : version(of: n))
        case 7: .read(id(n), after: pick(12), limit: pick(8))
        case 8: .heads((0..<pick(4)).map { _ in id(pick(streams + 1)) })
        case 9: .snapshot(id(n), atMost: pick(20), reducerVersion: pick(2))
        case 10: save(n)
        case 11: .streamOfCode(code(n / 2))
        case 12: chance(2) ? .directory([id(n), id(pick(streams))]) : .memberships(Self.sessions[pick(5)])
        default:
            .listing(
                matching: chance(2) ? ["1", "ROOM", "%", "_"][pick(4)] : nil, before: chance(2) ? id(n) : nil,
                limit: pick(6))
        }
    }

    /// Appends to a few streams, in random order; with `alwaysMoving`, each append has an event or a key, so that its
    /// order among the others is determined.
    mutating func batch(alwaysMoving: Bool) -> [StreamAppend] {
        (0..<streams).shuffled(using: &random).prefix(1 + pick(4)).map { n in
            let expected = version(of: n)
            let count = pick(4)
            let session = Self.sessions[pick(5)]
            let joins = chance(3)
            return StreamAppend(
                stream: id(n), expected: expected,
                events: events(after: expected.seq, count: count, tag: "\(random.next())"),
                keys: keys(
                    after: expected.keyed, count: alwaysMoving && count == 0 ? 1 : pick(3), seq: expected.seq,
                    session: session),
                directory: chance(3) ? entry(n) : nil, joined: joins ? [session] : [],
                left: !joins && chance(2) ? [session] : [])
        }
    }

    /// Sometimes a version that never existed or is outdated.
    private mutating func version(of n: Int) -> StreamVersion {
        var version = versions[n] ?? made
        if chance(8) { version.seq = max(0, version.seq - 1 + pick(3)) }
        if chance(12) { version.keyed = max(0, version.keyed - 1 + pick(3)) }
        return version
    }

    /// A creation that may use an existing key or code, but never an existing id.
    private mutating func create(_ n: Int) -> StoreOperation {
        guard n < streams, versions[n] == nil else { return .streamOfCode(code(n / 2)) }
        closed.remove(n)
        var open = entry(n)
        open.closedAt = nil
        let key = chance(2) ? "key-\(pick(3))" : nil
        return .create(
            creation(
                n, creator: Self.sessions[n % 5], key: key, at: clock, entry: open))
    }

    private mutating func save(_ n: Int) -> StoreOperation {
        guard let version = versions[n] else { return .memberships(Self.sessions[n % 5]) }
        return .save(
            StoredSnapshot(seq: 1 + pick(version.seq), reducerVersion: pick(2), state: [UInt8(pick(256))]), id(n),
            oneIn: 1 + pick(8))
    }

    /// An entry; a closed stream stays closed, so that two open streams never share a code.
    private mutating func entry(_ n: Int) -> DirectoryEntry {
        if chance(5) { closed.insert(n) }
        let isSomewhere = chance(2)
        let closedAt = closed.contains(n) ? noon + Int64(pick(1_000_000_000)) : nil
        return DirectoryEntry(
            code: code(sharesCodes ? n / 2 : n), name: "Room \(pick(100))", isPublic: !chance(4),
            createdAt: clock, closedAt: closedAt, owner: chance(3) ? nil : Self.sessions[pick(5)],
            djName: chance(2) ? "dj" : nil
        ).withStored(latitude: isSomewhere ? 1.5 : nil, longitude: isSomewhere ? -1.5 : nil)
    }

    private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

    private mutating func chance(_ oneIn: Int) -> Bool { pick(oneIn) == 0 }
}
