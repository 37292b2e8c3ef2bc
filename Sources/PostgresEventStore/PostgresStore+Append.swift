package import EventStorage
import FoundationEssentials

extension PostgresStore {
    package func append(_ batch: [StreamAppend]) async throws(StorageFault) -> [AppendOutcome] {
        batch.checkPreconditions()
        guard !batch.isEmpty else { return [] }
        let answer = try await execute(Call(.append, with: Self.appendParameters(of: batch)))
        var matched: Set<UUID> = []
        for row in answer.rows {
            try matched.insert(answer.uuid(row, 0))
        }
        return batch.map { matched.contains($0.stream) ? .appended : .conflict }
    }

    package func create(_ creation: StreamCreation) async throws(StorageFault) -> CreationOutcome {
        let calls = [
            Call(.begin),
            Call(.lockCreator, creation.creator),
            Call(.forgetCreations, creation.creator, creation.keysSince),
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

    /// The parameters of ``Statement/append``: one array per column.
    static func appendParameters(of batch: [StreamAppend]) -> Parameters {
        let entries = batch.map(\.directory)
        var parameters = Parameters(
            batch.map(\.stream), batch.map(\.expected.seq), batch.map(\.expected.keyed),
            batch.map(\.resulting.seq), batch.map(\.resulting.keyed),
            entries.map { $0 != nil }, entries.map(\.?.code), entries.map(\.?.name), entries.map(\.?.isPublic),
            entries.map { $0?.latitude }, entries.map { $0?.longitude }, entries.map(\.?.createdAt),
            entries.map { $0?.closedAt }, entries.map { $0?.owner }, entries.map { $0?.djName },
            entries.map { $0?.nowPlayingTitle }, entries.map { $0?.nowPlayingArtist })
        parameters.add(batch.flatMap { part in part.events.map { _ in part.stream } })
        parameters.add(events: batch.lazy.flatMap(\.events))
        parameters.add(batch.flatMap { part in part.newestKeys.map { _ in part.stream } })
        parameters.add(keys: batch.lazy.flatMap(\.newestKeys))
        parameters.add(batch.flatMap { part in part.joined.map { _ in part.stream } })
        parameters.add(batch.flatMap(\.joined))
        parameters.add(batch.flatMap { part in part.left.map { _ in part.stream } })
        parameters.add(batch.flatMap(\.left))
        parameters.add(batch.flatMap { $0.events.map(\.checksum) })
        parameters.add(batch.flatMap { $0.newestKeys.map(\.checksum) })
        parameters.add(batch.map(\.forgetAt))
        return parameters
    }

    /// The parameters of ``Statement/create``.
    static func creationParameters(of creation: StreamCreation) -> Parameters {
        let (first, entry) = (creation.first, creation.checkedEntry())
        var parameters = Parameters(
            creation.creator, creation.key, creation.fingerprint, creation.at, creation.ownerLimit,
            first.stream, creation.epoch, first.resulting.seq, first.resulting.keyed,
            entry.code, entry.name, entry.isPublic, entry.latitude, entry.longitude, entry.createdAt,
            entry.closedAt, entry.owner, entry.djName, entry.nowPlayingTitle, entry.nowPlayingArtist)
        parameters.add(events: first.events)
        parameters.add(keys: first.newestKeys)
        parameters.add(first.joined)
        parameters.add(creation.checksum)
        parameters.add(first.events.map(\.checksum))
        parameters.add(first.newestKeys.map(\.checksum))
        return parameters
    }
}

extension StreamAppend {
    /// The keys that are not overwritten by later ones of the same append.
    fileprivate var newestKeys: ArraySlice<CommandKey> {
        keys.suffix(CommandKey.window)
    }
}

extension Parameters {
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
