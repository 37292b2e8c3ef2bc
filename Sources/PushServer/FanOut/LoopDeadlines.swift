import HTTPTransport
import NIOCore
import RoomService

extension HTTPConnectionHandler: Deadlined {}

/// The deadlines of one event loop: of channels that are making their first request, open sockets, and HTTP
/// connections.
///
/// Used on that loop only.
final class LoopDeadlines {
    /// The most elements that are checked in a row: closing a connection takes about 20 µs.
    private static let dueAtOnce = 16
    /// A longer time between two turns of the wheel means that the loop stood still.
    private static let noticedPause = TimeAmount.seconds(1)

    private let loop: any EventLoop
    /// Checks what is due, in turns with the loop's other work.
    private let turns: LoopTurns
    private var elements: [ConnectionID: any Deadlined] = [:]
    /// The number of elements that are HTTP connections.
    private var httpConnections = 0
    private var wheel: TimerWheel
    private var lastTurn: NIODeadline
    /// The elements that are due and have not been checked.
    private var due: CircularBuffer<(tick: Int, id: ConnectionID)> = []

    /// Makes one without elements; call on the loop.
    init(loop: any EventLoop) {
        self.loop = loop
        turns = LoopTurns(of: loop)
        wheel = TimerWheel(start: loop.now)
        lastTurn = loop.now
    }

    /// The number of channels that are sockets or are making their first request; those that are closing are included.
    var openChannels: Int { elements.count - httpConnections }

    /// Checks `element` at its deadline, and then at each time that it returns, until ``forget(_:)``.
    func lookAfter(_ element: any Deadlined, _ id: ConnectionID, at deadline: NIODeadline) {
        elements[id] = element
        wheel.schedule(element, id, at: deadline)
    }

    /// Checks an HTTP connection, until ``forgetHTTP(_:)``.
    func lookAfterHTTP(_ handler: HTTPConnectionHandler, _ id: ConnectionID, at deadline: NIODeadline) {
        httpConnections += 1
        lookAfter(handler, id, at: deadline)
    }

    /// Ends the checks of an HTTP connection.
    func forgetHTTP(_ id: ConnectionID) {
        guard elements[id] != nil else { return }
        httpConnections -= 1
        forget(id)
    }

    /// Checks the element of this number at an earlier deadline; does nothing if there is none.
    func schedule(_ id: ConnectionID, at deadline: NIODeadline) {
        guard let element = elements[id] else { return }
        wheel.schedule(element, id, at: deadline)
    }

    /// Ends the checks of the element of this number, whose channel is closed.
    func forget(_ id: ConnectionID) {
        elements[id] = nil
    }

    /// Tells every element that the server stops.
    func drain() {
        for element in elements.values { element.drain() }
    }

    /// Does what is due; called once in each interval of the wheel.
    func turnWheel() {
        let now = loop.now
        let pause = now - lastTurn
        lastTurn = now
        // The process stood still, so nothing that peers did in that time has been read yet.
        if pause > Self.noticedPause { for element in elements.values { element.excuse(pause) } }
        let isUnderWay = !due.isEmpty
        while let (tick, ids) = wheel.next(at: now) { due.append(contentsOf: ids.map { (tick, $0) }) }
        guard !isUnderWay, lookAtDue() else { return }
        let this = NIOLoopBound(self, eventLoop: loop)
        turns.assumeIsolated { $0.add { this.value.lookAtDue() } }
    }

    /// Checks some of the elements that are due; returns whether there are more.
    private func lookAtDue() -> Bool {
        let now = loop.now
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
