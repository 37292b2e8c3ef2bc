import EventStorage
import FoundationEssentials
import Logging

/// Reads the directory of the log from mark to mark, and compares known rooms with it from time to time.
struct DirectoryReader {
    /// What a reading has found.
    enum News {
        /// The current entries of the rooms that have changed; nil if nearby searches do not show the room.
        case changed([(id: UUID, room: PlacedRoom?)])
        /// All rooms that nearby searches show.
        case all([UUID: PlacedRoom])
    }

    /// The number of rooms read at a time.
    private static let pageSize = 1_000
    /// The number of intervals between two comparisons of a page of rooms with the log.
    private static let intervalsBetweenComparisons = 10

    private let store: any EventStore
    private let logger: Logger
    private var mark: DirectoryMark?
    /// The rooms that have yet to be compared with the log.
    private var uncompared: [UUID] = []
    /// The position at which to continue the log's listing; nil: at its beginning.
    private var listedBefore: UUID?
    private var intervals = 0
    private var isOutOfReach = false

    init(store: any EventStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// Reads the changes; if the log is out of reach, returns nil, and the next call asks for the same.
    mutating func catchUp() async -> News? {
        do throws(StorageFault) {
            let changes = try await store.directoryChanges(since: mark)
            let news: News =
                if let records = changes.records {
                    .changed(records.map { ($0.stream, PlacedRoom($0)) })
                } else {
                    .all(try await readAll())
                }
            mark = changes.mark
            if isOutOfReach { logger.notice("The rooms nearby are read again") }
            isOutOfReach = false
            return news
        } catch {
            if !isOutOfReach {
                logger.warning(
                    "The rooms nearby cannot be read: searches show their last state", metadata: ["fault": "\(error)"])
            }
            isOutOfReach = true
            return nil
        }
    }

    private func readAll() async throws(StorageFault) -> [UUID: PlacedRoom] {
        var found: [UUID: PlacedRoom] = [:]
        var before: UUID?
        while true {
            let page = try await store.openPublicStreams(matching: nil, before: before, limit: Self.pageSize)
            for record in page { found[record.stream] = PlacedRoom(record) }
            guard page.count == Self.pageSize, let last = page.last else { return found }
            before = last.stream
        }
    }

    /// Compares some rooms with the log once in several intervals; a failed comparison is repeated the next time.
    ///
    /// It finds changes that were written without a mark, by an older program or by hand. `known` returns all rooms that
    /// are to be compared, one page after the other; `take` gets what was found.
    mutating func compareNowAndThen(_ known: () -> [UUID], _ take: (News) -> Void) async {
        intervals += 1
        guard intervals.isMultiple(of: Self.intervalsBetweenComparisons), !isOutOfReach else { return }
        do throws(StorageFault) {
            try await compare(known, take)
        } catch {
            logger.warning("Rooms nearby cannot be compared with the log", metadata: ["fault": "\(error)"])
        }
    }

    /// Reads the entries of the rooms that were not compared for longest, and a page of the log's listing.
    private mutating func compare(_ known: () -> [UUID], _ take: (News) -> Void) async throws(StorageFault) {
        let listed = try await store.openPublicStreams(matching: nil, before: listedBefore, limit: Self.pageSize)
        take(.changed(listed.map { ($0.stream, PlacedRoom($0)) }))
        listedBefore = listed.count == Self.pageSize ? listed.last?.stream : nil
        if uncompared.isEmpty { uncompared = known() }
        let page = uncompared.suffix(Self.pageSize)
        guard !page.isEmpty else { return }
        var found: [UUID: PlacedRoom] = [:]
        for record in try await store.directory(of: Array(page)) { found[record.stream] = PlacedRoom(record) }
        take(.changed(page.map { ($0, found[$0]) }))
        uncompared.removeLast(page.count)
    }
}
