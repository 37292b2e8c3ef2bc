import EventStorage
import Logging
import NIOCore
import RoomDomain
import RoomWire
import Synchronization

/// This server's end of the bus between servers: it collects and sends notices, and receives those of others.
///
/// A notice is sent at once if no send is under way; notices of the next few milliseconds follow together. If the bus
/// is slower than that, ``queueLimit`` bounds the notices that wait: beyond it they are lost.
final class ClusterBus: Sendable {
    /// An event on the bus.
    enum Event: Sendable {
        /// Notices arrive from now on.
        case connected
        /// Notices are being lost.
        case disconnected
        /// Another server sent a notice.
        case notice(NodeNotice, from: String)
    }

    private struct Outgoing {
        var recipient: String?
        var notice: [UInt8]
    }

    private struct State {
        /// The rooms that have new events, each with its last event.
        var moved: [RoomID: Int] = [:]
        var queue: [Outgoing] = []
        var queuedBytes = 0
        /// Whether a send is scheduled, under way, or just done.
        var isBusy = false
    }

    /// The shortest time between two sends.
    private static let interval = TimeAmount.milliseconds(2)
    /// The time after a send that failed.
    private static let intervalAfterFailure = TimeAmount.milliseconds(200)
    /// The most bytes of notices that may wait: some signals of the largest kind, or many of any other.
    private static let queueLimit = 8 * 1_024 * 1_024
    /// The most bytes of notices in one message; a longer notice is sent alone.
    private static let messageSize = 64 * 1_024
    /// The bytes of a message around its notices.
    private static let envelopeSize = 256

    /// This server's name, different from that of every other.
    let node: String
    private let bus: any NodeBus
    private let loop: any EventLoop
    private let jobs: BackgroundJobs
    private let metrics: BusMetrics
    private let logger: Logger
    private let state = Mutex(State())

    init(
        bus: any NodeBus, node: String, loop: any EventLoop, jobs: BackgroundJobs, metrics: BusMetrics,
        logger: Logger
    ) {
        self.bus = bus
        self.node = node
        self.loop = loop
        self.jobs = jobs
        self.metrics = metrics
        self.logger = logger
    }

    // MARK: Telling

    /// Tells all others that events are durable; may be called on any thread.
    func tell(_ room: RoomID, movedTo seq: Int) {
        start { state in
            state.moved[room] = max(state.moved[room] ?? 0, seq)
        }
    }

    /// Sends a notice to one server, or to all others; may be called on any thread.
    ///
    /// Notices to one recipient arrive in the order of the calls, or not at all.
    func tell(_ notice: NodeNotice, to recipient: String? = nil) {
        let encoded = notice.encoded()
        guard encoded.count <= NodeMessage.largestPayload - Self.envelopeSize else { return metrics.noticesLost(1) }
        start { state in
            guard state.queuedBytes + encoded.count <= Self.queueLimit else { return metrics.noticesLost(1) }
            state.queue.append(Outgoing(recipient: recipient, notice: encoded))
            state.queuedBytes += encoded.count
        }
    }

    /// Sends a last notice to all others before a stop; returns when it has been sent, or cannot be.
    func tellLast(_ notice: NodeNotice) async {
        let payload = NodeEnvelope.encode(sender: node, notices: [notice.encoded()])
        do throws(StorageFault) {
            try await bus.send([NodeMessage(payload: payload)])
        } catch {
            logger.debug("Other servers could not be told", metadata: ["fault": "\(error)"])
        }
    }

    private func start(_ note: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            note(&state)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        // At the end of the loop's turn, so that notices of one turn are sent together.
        if isFirst { loop.execute { self.send() } }
    }

    private func send() {
        let (moved, queue) = state.withLock { state in
            defer { state = State(isBusy: !state.moved.isEmpty || !state.queue.isEmpty) }
            return (state.moved, state.queue)
        }
        let messages = messages(moved, queue)
        guard !messages.isEmpty else { return }
        jobs.start {
            var rest = Self.interval
            do throws(StorageFault) {
                try await self.bus.send(messages)
                self.metrics.noticesSent(messages)
            } catch {
                self.logger.debug("Other servers could not be told", metadata: ["fault": "\(error)"])
                self.metrics.noticesLost(queue.count)
                rest = Self.intervalAfterFailure
                // News of events is worth sending later as well.
                self.state.withLock { $0.moved.merge(moved) { max($0, $1) } }
            }
            self.loop.scheduleTask(in: rest) { self.send() }
        }
    }

    /// Joins consecutive notices to the same recipient.
    private func messages(_ moved: [RoomID: Int], _ queue: [Outgoing]) -> [NodeMessage] {
        var outgoing = queue
        // About forty bytes each.
        for part in Array(moved).parts(of: Self.messageSize / 64) {
            let notice = NodeNotice.moved(Dictionary(uniqueKeysWithValues: part.map { ($0.key, $0.value) }))
            outgoing.append(Outgoing(recipient: nil, notice: notice.encoded()))
        }
        var messages: [NodeMessage] = []
        var rest = outgoing[...]
        while let first = rest.first {
            var size = first.notice.count
            let part =
                rest.prefix(1)
                + rest.dropFirst().prefix { next in
                    size += next.notice.count + 1
                    return next.recipient == first.recipient && size <= Self.messageSize
                }
            rest = rest.dropFirst(part.count)
            messages.append(
                NodeMessage(
                    to: first.recipient, payload: NodeEnvelope.encode(sender: node, notices: part.lazy.map(\.notice))))
        }
        return messages
    }

    // MARK: Hearing

    /// Calls `hear` on any thread with the events of the bus, one after the other, until the task is cancelled.
    func run(_ hear: @escaping @Sendable (Event) -> Void) async {
        await bus.run(as: node) { event in
            switch event {
            case .connected: hear(.connected)
            case .disconnected: hear(.disconnected)
            case .message(let payload):
                guard let envelope = NodeEnvelope(parsing: payload), envelope.sender != self.node else { return }
                self.metrics.noticesReceived(envelope.notices.count, bytes: payload.count)
                for notice in envelope.notices { hear(.notice(notice, from: envelope.sender)) }
            }
        }
    }
}
