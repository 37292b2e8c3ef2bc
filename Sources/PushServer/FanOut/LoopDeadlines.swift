import HTTPTransport
import NIOCore
import RoomService

extension HTTPConnectionHandler: Deadlined {}

/// What is due on one event loop, and when: channels that are making their first request, open sockets, and HTTP
/// connections.
///
/// Touched on that loop only.
final class LoopDeadlines {
    /// At most so many elements are looked at in a row: to close a connection takes some 20 µs.
    private static let dueAtOnce = 16
    /// From this time between two turns of the wheel on, the loop has stood still.
    private static let noticedPause = TimeAmount.seconds(1)

    private let loop: any EventLoop
    /// What is due, in turns with what else the loop has to do.
    private let turns: LoopTurns
    private var elements: [ConnectionID: any Deadlined] = [:]
    /// How many of the elements speak HTTP.
    private var httpConnections = 0
    private var wheel = TimerWheel(start: .now())
    private var lastTurn = NIODeadline.now()
    /// What is due and has not been looked at.
    private var due: CircularBuffer<(tick: Int, id: ConnectionID)> = []

    /// Begins without any element; call on the loop.
    init(loop: any EventLoop) {
        self.loop = loop
        turns = LoopTurns(of: loop)
    }

    /// How many channels are open that are sockets, or are making their first request; those that are closing are
    /// included.
    var openChannels: Int { elements.count - httpConnections }

    /// Looks at `element` when `deadline` has come, and from then on whenever it says, until ``forget(_:)``.
    func lookAfter(_ element: any Deadlined, _ id: ConnectionID, at deadline: NIODeadline) {
        elements[id] = element
        wheel.schedule(element, id, at: deadline)
    }

    /// Looks after an HTTP connection, until ``forgetHTTP(_:)``.
    func lookAfterHTTP(_ handler: HTTPConnectionHandler, _ id: ConnectionID, at deadline: NIODeadline) {
        httpConnections += 1
        lookAfter(handler, id, at: deadline)
    }

    /// Looks no more after an HTTP connection.
    func forgetHTTP(_ id: ConnectionID) {
        guard elements[id] != nil else { return }
        httpConnections -= 1
        forget(id)
    }

    /// Looks at the element of this number at an earlier deadline; nothing changes where it is not looked after.
    func schedule(_ id: ConnectionID, at deadline: NIODeadline) {
        guard let element = elements[id] else { return }
        wheel.schedule(element, id, at: deadline)
    }

    /// Looks no more after the element of this number: its channel is gone.
    func forget(_ id: ConnectionID) {
        elements[id] = nil
    }

    /// Tells every element that the server stops.
    func drain() {
        for element in elements.values { element.drain() }
    }

    /// Does what is due; called once an interval of the wheel.
    func turnWheel() {
        let now = NIODeadline.now()
        let pause = now - lastTurn
        lastTurn = now
        // The process stood still: what its peers did meanwhile nobody has seen yet.
        if pause > Self.noticedPause { for element in elements.values { element.excuse(pause) } }
        let isUnderWay = !due.isEmpty
        while let (tick, ids) = wheel.next(at: now) { due.append(contentsOf: ids.map { (tick, $0) }) }
        guard !isUnderWay, lookAtDue() else { return }
        let this = NIOLoopBound(self, eventLoop: loop)
        turns.assumeIsolated { $0.add { this.value.lookAtDue() } }
    }

    /// Looks at some of what is due; returns whether there is more.
    private func lookAtDue() -> Bool {
        let now = NIODeadline.now()
        for _ in 0..<Self.dueAtOnce {
            guard let (tick, id) = due.popFirst() else { return false }
            guard let element = elements[id], element.wheelTick == tick else { continue }
            element.wheelTick = nil
            if let next = element.deadlineReached(at: now), elements[id] != nil {
                wheel.schedule(element, id, at: next)
            }
        }
        return !due.isEmpty
    }
}
