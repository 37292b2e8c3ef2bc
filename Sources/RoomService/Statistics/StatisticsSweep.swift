import EventStorage
import FoundationEssentials
import NIOCore
import RoomDomain
import RoomStatistics

/// Finds rooms whose counts end before their logs: what a server left that was killed, what an earlier release has
/// written, and what was counted by earlier definitions.
struct StatisticsSweep: Sendable {
    /// The rooms of one page.
    private static let roomsPerPage = 1_000

    /// How far the sweep is.
    struct Progress {
        /// The last room of the page before; nil at the start.
        fileprivate var last: UUID?
        /// Rooms that were behind when they were last seen, with the position to which they were counted: one that has
        /// not moved since is counted by nobody.
        fileprivate var suspects: [UUID: Int] = [:]
        /// The pages of this round, and of the one before it.
        fileprivate var pages = 0
        fileprivate var pagesBefore: Int?
        /// Fractions of pages that are due.
        fileprivate var due = 0.0
    }

    private let statistics: any StatisticsStore
    /// The time in which all rooms are looked at; after the start, as fast as it goes.
    private let round: TimeAmount

    init(statistics: any StatisticsStore, round: TimeAmount) {
        self.statistics = statistics
        self.round = round
    }

    /// Looks at the next rooms, and adds those that are behind.
    func `continue`(
        _ progress: inout Progress, behind: inout Set<UUID>, every interval: TimeAmount, at now: Timestamp
    ) async {
        guard behind.count < Self.roomsPerPage else { return }
        do throws(StorageFault) {
            if !progress.suspects.isEmpty {
                let suspects = progress.suspects
                progress.suspects = [:]
                for room in try await statistics.countedStreams(suspects.keys.sorted())
                where room.isBehind && suspects[room.stream] == room.counted?.seq ?? -1 { behind.insert(room.stream) }
            }
            if let pages = progress.pagesBefore {
                let share = Double(interval.nanoseconds) / Double(round.nanoseconds)
                progress.due = min(progress.due + Double(max(1, pages)) * share, 8)
            } else {
                progress.due = 4
            }
            while progress.due >= 1 {
                progress.due -= 1
                let page = try await statistics.countedStreams(after: progress.last, limit: Self.roomsPerPage)
                if !page.isEmpty {
                    try await statistics.moveMinutes(
                        of: page.map(\.stream), before: RoomTally.firstMinuteKept(at: now))
                }
                for room in page where room.isBehind { progress.suspects[room.stream] = room.counted?.seq ?? -1 }
                progress.pages += 1
                progress.last = page.last?.stream
                guard page.count == Self.roomsPerPage else {
                    progress.last = nil
                    progress.pagesBefore = progress.pages
                    progress.pages = 0
                    break
                }
            }
        } catch {
            // The next round tries again.
        }
    }
}
