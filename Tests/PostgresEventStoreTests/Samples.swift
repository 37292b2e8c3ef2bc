import EventStorage
import FoundationEssentials
import Testing

@testable import PostgresEventStore

/// A creation of a stream with one event.
func creation(_ stream: UUID = UUID(), code: String = "ABC123", name: String = "Room") -> StreamCreation {
    let creator = UUID()
    return StreamCreation(
        first: StreamAppend(
            stream: stream, expected: .start, events: [event(1)],
            directory: DirectoryEntry(code: code, name: name, isPublic: true, createdAt: 1, owner: creator),
            joined: [creator]),
        epoch: "epoch", creator: creator, key: nil, fingerprint: 1, at: 1, keysSince: 0, ownerLimit: 10)
}

/// An event with a recognisable payload.
func event(_ seq: Int, mark: String = "") -> StoredEvent {
    StoredEvent(seq: seq, at: 1, type: "marked", payload: Array(#"{"mark": "\#(mark)"}"#.utf8))
}

/// An append of one event.
func append(to stream: UUID, after seq: Int, mark: String = "") -> StreamAppend {
    StreamAppend(
        stream: stream, expected: StreamVersion(seq: seq, keyed: 0), events: [event(seq + 1, mark: mark)])
}

extension EventStore {
    /// Makes a stream, whose version is then 1.
    func makeStream(code: String = "ABC123") async throws -> UUID {
        let creation = creation(code: code)
        #expect(try await create(creation) == .created)
        return creation.first.stream
    }

    /// The `seq` of a stream's head.
    func seq(of stream: UUID) async throws -> Int? {
        try await heads(of: [stream])[stream]?.version.seq
    }
}

extension PostgresStore {
    /// The fault of the store's health check; nil if it is healthy.
    func healthFault() async -> StorageFault? {
        do throws(StorageFault) {
            try await checkHealth()
            return nil
        } catch {
            return error
        }
    }
}

extension PostgresPool {
    /// Runs a script and returns the first column of its last answer, a row a line.
    @discardableResult
    func script(_ sql: String) async throws -> String {
        guard let answer = try await run(.script(sql), isWrite: true).last else { return "" }
        return answer.rows.map { answer.optionalText($0, 0) ?? "" }.joined(separator: "\n")
    }
}

/// The fault that a call throws; records an issue if it throws none.
func fault<Value: Sendable>(
    of body: () async throws(StorageFault) -> Value, sourceLocation: SourceLocation = #_sourceLocation
) async -> StorageFault? {
    do throws(StorageFault) {
        _ = try await body()
        Issue.record("nothing was thrown", sourceLocation: sourceLocation)
        return nil
    } catch {
        return error
    }
}

extension StorageFault {
    /// The store's cause; nil for ``StorageFault/closed``.
    var cause: Cause? {
        switch self {
        case .unreachable(let cause), .outcomeUnknown(let cause), .transient(let cause), .exhausted(let cause),
            .rejected(let cause), .corrupt(let cause):
            cause
        case .closed: nil
        }
    }

    /// Whether nothing was sent.
    var isUnreachable: Bool {
        if case .unreachable = self { true } else { false }
    }
}
