import NIOCore
import RoomService

/// The regular work for open sockets: what is due on them, the ends of their sessions, and memory that they no longer
/// need.
struct SocketHousekeeping: Sendable {
    /// The time after which free memory is returned to the system.
    private static let trimInterval = TimeAmount.minutes(1)
    /// Memory is returned earlier if the bytes that wait for peers have fallen by this much.
    private static let trimmedDrop = 32 << 20
    /// How often the sessions of open sockets are checked.
    private static let interval = Duration.milliseconds(2_500)

    private let feeds: [HubFeed]
    private let rooms: RoomHost
    private let waiting: WaitingBytes
    /// How often the ends of sessions with open sockets are extended, since an open socket counts as use.
    private let extensionInterval: TimeAmount

    init(_ feeds: [HubFeed], _ rooms: RoomHost, waiting: WaitingBytes) {
        self.feeds = feeds
        self.rooms = rooms
        self.waiting = waiting
        extensionInterval = min(.hours(1), .milliseconds(rooms.settings.sessionLifetimeMs / 10))
    }

    /// Does the work until the task is cancelled.
    func run() async {
        await withDiscardingTaskGroup { tasks in
            for feed in feeds { tasks.addTask { await Self.turnWheel(of: feed) } }
            await checkRegularly()
            tasks.cancelAll()
        }
    }

    private func checkRegularly() async {
        var nextExtension = NIODeadline.now() + extensionInterval
        var nextTrim = NIODeadline.now() + Self.trimInterval
        // The most bytes that have waited since memory was last returned to the system.
        var mostWaiting = 0
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            mostWaiting = max(mostWaiting, waiting.count)
            if nextTrim < .now() || mostWaiting - waiting.count > Self.trimmedDrop {
                Heap.giveBack()
                mostWaiting = waiting.count
                nextTrim = .now() + Self.trimInterval
            }
            let extendsSessions = nextExtension < .now()
            if extendsSessions { nextExtension = .now() + extensionInterval }
            for feed in feeds { await checkSessions(of: feed, extending: extendsSessions) }
        }
    }

    /// Does what is due on a loop's connections, until the task is cancelled.
    private static func turnWheel(of feed: HubFeed) async {
        let task = feed.loop.scheduleRepeatedTask(initialDelay: TimerWheel.interval, delay: TimerWheel.interval) { _ in
            feed.onLoop { $0.loop.deadlines.turnWheel() }
        }
        defer { task.cancel() }
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3_600)) }
    }

    /// Closes the sockets of sessions that were ended through another server on the same log, and extends the others if
    /// asked to.
    private func checkSessions(of feed: HubFeed, extending: Bool) async {
        guard let connected = try? await feed.loop.submit({ feed.attached?.sessions ?? [] }).get() else { return }
        for session in await rooms.sessionEnding.endedElsewhere(connected) { feed.onLoop { $0.sessionEnded(session) } }
        if extending { for session in connected { await rooms.sessions.extend(session) } }
    }
}
