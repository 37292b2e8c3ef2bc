import ByteText
package import EventStorage
import FoundationEssentials

extension PostgresStore {
    package func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome] {
        batch.checkPreconditions()
        guard !batch.isEmpty else { return [] }
        let answers = try await write(Self.appendCalls(for: batch))
        guard let answer = answers.first else { throw .outcomeUnknown(.init(message: "an append has no answer")) }
        // Each stream is in a batch once, and in the answer once if it moved.
        guard answer.rows.count < batch.count else { return Array(repeating: .appended, count: batch.count) }
        var moved: Set<UUID> = []
        for row in answer.rows {
            do throws(StorageFault) {
                moved.insert(try answer.uuid(row, 0))
            } catch {
                // The batch is committed: a caller that took this for a failure would append again.
                throw .outcomeUnknown(.init(message: "the answer to an append cannot be read"))
            }
        }
        return batch.map { moved.contains($0.stream) ? .appended : .conflict }
    }

    package func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome {
        let calls = [
            Call(.begin),
            Call(.lockCreator, creation.creator),
            Call(.forgetCreations, creation.creator, creation.keysSince),
            Call(.enter, with: Self.entryParameters(of: creation)),
            Call(.create, with: Self.creationParameters(of: creation)),
            Call(.commit),
        ]
        let answers = try await write(calls)
        guard answers.count == calls.count, let row = answers[3].rows.first else {
            throw .corrupt(.init(message: "a creation has no answer"))
        }
        let answer = answers[3]
        if try answer.bool(row, 0) { return .created }
        if let stream = try answer.optionalUUID(row, 1) {
            return try .existing(stream: stream, fingerprint: Int64(answer.int(row, 2)))
        }
        return try answer.int(row, 3) < creation.ownerLimit ? .codeTaken : .ownerLimitReached
    }

    /// Makes the statement that appends a batch, and the one that writes its changes of the directory, if it has any.
    static func appendCalls(for batch: [StreamAppend]) -> [Call] {
        let (batch, parts) = (batch.sortedByStream, AppendParts(of: batch))
        let append = Call(.append(parts, toOne: batch.count == 1), with: appendParameters(of: batch, parts))
        guard parts.contains(.directory) else { return [append] }
        return [append, Call(.list, with: listParameters(of: batch.filter(\.changesDirectory)))]
    }

    /// Makes the parameters of ``Statement/append(_:toOne:)`` for a batch in the order of the streams' ids.
    static func appendParameters(of batch: [StreamAppend], _ parts: AppendParts) -> Parameters {
        var parameters: Parameters
        let isToOne: Bool
        if batch.count == 1, let part = batch.first {
            isToOne = true
            parameters = Parameters(
                part.stream, part.epoch, part.expected.seq, part.expected.keyed, part.resulting.seq,
                part.resulting.keyed, part.expected.tail, part.resulting.tail)
        } else {
            isToOne = false
            parameters = Parameters(
                batch.map(\.stream), batch.map(\.epoch), batch.map(\.expected.seq), batch.map(\.expected.keyed),
                batch.map(\.resulting.seq), batch.map(\.resulting.keyed), batch.map(\.expected.tail),
                batch.map(\.resulting.tail))
        }
        /// Adds the stream of each row of a part, unless there is only one.
        func addStreams(_ count: (StreamAppend) -> Int) {
            guard !isToOne else { return }
            parameters.add(batch.flatMap { Array(repeating: $0.stream, count: count($0)) })
        }
        if parts.contains(.events) {
            addStreams(\.events.count)
            let events = batch.flatMap(\.events)
            parameters.add(events: events)
            parameters.add(events.map(\.checksum))
        }
        if parts.contains(.keys) {
            addStreams(\.newestKeys.count)
            let keys = batch.flatMap(\.newestKeys)
            parameters.add(keys: keys)
            parameters.add(keys.map(\.checksum))
        }
        if parts.contains(.memberships) {
            addStreams(\.joined.count)
            parameters.add(batch.flatMap(\.joined))
            addStreams(\.left.count)
            parameters.add(batch.flatMap(\.left))
        }
        if parts.contains(.attachments) {
            addStreams { $0.attachments.count { $0.bytes != nil } }
            let written = batch.flatMap { $0.attachments.filter { $0.bytes != nil } }
            parameters.add(written.map(\.name))
            parameters.add(written.map { Binary($0.bytes ?? []) })
            parameters.add(written.map(\.unneededSince))
            addStreams { $0.attachments.count { $0.bytes == nil } }
            let marked = batch.flatMap { $0.attachments.filter { $0.bytes == nil } }
            parameters.add(marked.map(\.name))
            parameters.add(marked.map(\.unneededSince))
        }
        return parameters
    }

    /// Makes the parameters of ``Statement/list``.
    static func listParameters(of batch: [StreamAppend]) -> Parameters {
        var parameters = Parameters(batch.map(\.stream))
        parameters.add(entries: batch.map(\.directory))
        parameters.add(batch.map(\.forgetAt))
        parameters.add(batch.map(\.clearing))
        return parameters
    }

    /// Makes the parameters of ``Statement/enter``.
    static func entryParameters(of creation: StreamCreation) -> Parameters {
        let entry = creation.checkedEntry()
        return Parameters(
            creation.creator, creation.key, creation.fingerprint, creation.at, creation.ownerLimit,
            creation.first.stream, entry.code, entry.name, entry.isPublic, entry.latitude, entry.longitude,
            entry.createdAt, entry.closedAt, entry.owner, entry.djName, entry.nowPlayingTitle,
            entry.nowPlayingArtist)
    }

    /// Makes the parameters of ``Statement/create``.
    static func creationParameters(of creation: StreamCreation) -> Parameters {
        let first = creation.first
        var parameters = Parameters(
            first.stream, creation.checksum, creation.epoch, first.resulting.seq, first.resulting.keyed,
            first.resulting.tail)
        parameters.add(events: first.events)
        parameters.add(first.events.map(\.checksum))
        parameters.add(keys: first.newestKeys)
        parameters.add(first.newestKeys.map(\.checksum))
        parameters.add(first.joined)
        return parameters
    }
}

extension [StreamAppend] {
    /// The appends in the order in which the database sorts the streams' ids: by their bytes.
    fileprivate var sortedByStream: [StreamAppend] {
        guard count > 1 else { return self }
        let places = indices.map { (halves: self[$0].stream.halves, index: $0) }
        return places.sorted { $0.halves < $1.halves }.map { self[$0.index] }
    }
}

extension StreamAppend {
    /// Whether it changes the stream's row of the directory.
    var changesDirectory: Bool { directory != nil || forgetAt != nil || clearing != nil }

    /// The keys that later keys of the same append do not overwrite.
    fileprivate var newestKeys: ArraySlice<CommandKey> {
        keys.suffix(CommandKey.window)
    }
}

extension Parameters {
    /// Adds arrays of `is_listed` and the directory's columns.
    fileprivate mutating func add(entries: [DirectoryEntry?]) {
        add(entries.map { $0 != nil })
        add(entries.map(\.?.code))
        add(entries.map(\.?.name))
        add(entries.map(\.?.isPublic))
        add(entries.map { $0?.latitude })
        add(entries.map { $0?.longitude })
        add(entries.map(\.?.createdAt))
        add(entries.map { $0?.closedAt })
        add(entries.map { $0?.owner })
        add(entries.map { $0?.djName })
        add(entries.map { $0?.nowPlayingTitle })
        add(entries.map { $0?.nowPlayingArtist })
    }

    /// Adds arrays of `seq`, `at`, `type` and `payload`.
    mutating func add(events: some Sequence<StoredEvent>) {
        add(events.map(\.seq))
        add(events.map(\.at))
        add(events.map(\.type))
        add(events.map { JSONText($0.payload) })
    }

    /// Adds arrays of `ordinal`, `session_id`, `key`, `fingerprint`, `seq` and `result`.
    mutating func add(keys: some Sequence<CommandKey>) {
        add(keys.map(\.ordinal))
        add(keys.map(\.session))
        add(keys.map(\.key))
        add(keys.map(\.fingerprint))
        add(keys.map(\.seq))
        add(keys.map { $0.result.map(JSONText.init) })
    }
}
