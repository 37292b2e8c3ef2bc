import EventStorage
package import FoundationEssentials

/// The rooms whose statistics a tool looks at.
package struct StatisticsRooms: Sendable {
    /// Which rooms.
    package enum Choice: Sendable {
        case all
        case one(UUID)
        /// Rooms whose last event was recorded at or after an instant, in milliseconds since the Unix epoch.
        case movedSince(Int64)
    }

    package var choice: Choice
    /// Whether a room is left out.
    private let leavesOut: @Sendable (CountedStream) -> Bool

    init(_ choice: Choice, leavesOut: @escaping @Sendable (CountedStream) -> Bool = { _ in false }) {
        self.choice = choice
        self.leavesOut = leavesOut
    }

    /// Rooms to compare; with `onlyNew`, without those that are proven as far as they are counted.
    package init(toVerify choice: Choice, onlyNew: Bool = false) {
        self.init(choice) { onlyNew && $0.counted.map(\.seq) == $0.proven }
    }

    /// Calls `body` with pages of rooms, `jobs` of them side by side; returns the sum of its results, which `progress` is
    /// told after each page.
    func each(
        in archive: any StatisticsArchive, jobs: Int,
        _ body: @escaping @Sendable ([UUID]) async throws(StorageFault) -> StatisticsVerification,
        progress: (StatisticsVerification) -> Void
    ) async throws(StorageFault) -> StatisticsVerification {
        var sum = StatisticsVerification()
        if case .one(let room) = choice {
            sum += try await body([room])
            return sum
        }
        var waiting: [[UUID]] = []
        var last: UUID?
        var isOver = false
        let result = await withTaskGroup(of: Result<StatisticsVerification, StorageFault>.self) { group in
            var running = 0
            do throws(StorageFault) {
                while true {
                    while waiting.isEmpty, !isOver {
                        let listed = try await archive.countedStreams(after: last, limit: 1_000)
                        last = listed.last?.stream
                        isOver = last == nil
                        waiting = try await pages(of: listed, in: archive)
                    }
                    while running < max(1, jobs), !waiting.isEmpty {
                        let page = waiting.removeFirst()
                        running += 1
                        group.addTask {
                            do throws(StorageFault) {
                                return .success(try await body(page))
                            } catch {
                                return .failure(error)
                            }
                        }
                    }
                    guard running > 0, let result = await group.next() else { break }
                    running -= 1
                    sum += try result.get()
                    progress(sum)
                }
                return Result<Void, StorageFault>.success(())
            } catch {
                group.cancelAll()
                return .failure(error)
            }
        }
        try result.get()
        return sum
    }

    /// Divides rooms into pages of bounded size.
    private func pages(
        of listed: [CountedStream], in archive: any StatisticsArchive
    ) async throws(StorageFault) -> [[UUID]] {
        var streams = listed
        if case .movedSince(let instant) = choice {
            let moved = Set(try await archive.streams(listed.map(\.stream), movedSince: instant))
            streams = listed.filter { moved.contains($0.stream) }
        }
        streams.removeAll(where: leavesOut)
        var pages: [[UUID]] = []
        var events = 0
        for stream in streams {
            events += stream.head.version.seq
            if var page = pages.last, page.count < StatisticsVerifier.page.rooms,
                events <= StatisticsVerifier.page.events
            {
                page.append(stream.stream)
                pages[pages.count - 1] = page
            } else {
                pages.append([stream.stream])
                events = stream.head.version.seq
            }
        }
        return pages
    }
}
