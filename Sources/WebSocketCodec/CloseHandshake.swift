/// The close handshake of one WebSocket connection (RFC 6455 §7).
///
/// The shell says what happened and does the step it gets back. Whoever waits for the peer after a `send` sets a timer
/// and calls ``timedOut()`` when it fires: a peer need not answer.
package struct CloseHandshake: ~Copyable, Sendable {
    /// What the shell does.
    package enum Step: Equatable, Sendable {
        /// Send this Close frame and go on reading; send no data or pings after it (§5.5.1).
        case send(CloseReason?)
        /// Send this Close frame, then end the transport.
        case sendAndDrop(CloseReason?)
        /// End the transport.
        case drop
        /// Nothing to do.
        case nothing
    }

    /// How a connection ended.
    package enum Outcome: Equatable, Sendable {
        /// This end closed first, with this reason.
        case closedHere(CloseReason?)
        /// The peer closed first, with this reason (`nil`: what the RFC calls 1005).
        case closedByPeer(CloseReason?)
        /// The peer broke the protocol.
        case failed(FrameViolation)
        /// The transport ended without any Close frame (what the RFC calls 1006).
        case lost
    }

    private enum State {
        case open
        /// Our Close frame is sent, the peer's is awaited.
        case closing(Outcome)
        /// Both Close frames have passed, or no more will; a client waits here for the server to end the transport.
        case closed(Outcome)
    }

    private let role: WebSocketRole
    private var state: State = .open

    /// Makes the close handshake of an open connection for the end that has `role`.
    package init(role: WebSocketRole) {
        self.role = role
    }

    /// Whether messages, pings and pongs may still be sent.
    package var isOpen: Bool {
        switch self.state {
        case .open: true
        case .closing, .closed: false
        }
    }

    /// How the connection ended, or is about to; `nil` while it is open.
    package var outcome: Outcome? {
        switch self.state {
        case .open: nil
        case .closing(let outcome), .closed(let outcome): outcome
        }
    }

    /// This end wants to close; once is enough.
    package mutating func close(_ reason: CloseReason?) -> Step {
        switch self.state {
        case .open:
            self.state = .closing(.closedHere(reason))
            return .send(reason)
        case .closing, .closed:
            return .nothing
        }
    }

    /// The peer's Close frame has come; its code is sent back where ours was not sent yet (§5.5.1).
    ///
    /// The server ends the transport, the client leaves that to the server (§7.1.1).
    package mutating func peerClosed(_ reason: CloseReason?) -> Step {
        switch self.state {
        case .open:
            self.state = .closed(.closedByPeer(reason))
            let echo = reason.map { CloseReason($0.code) }
            return switch self.role {
            case .server: .sendAndDrop(echo)
            case .client: .send(echo)
            }
        case .closing(let outcome):
            self.state = .closed(outcome)
            return switch self.role {
            case .server: .drop
            case .client: .nothing
            }
        case .closed:
            return .nothing
        }
    }

    /// The peer broke the protocol: the connection fails with the violation's code (§7.1.7).
    package mutating func violated(_ violation: FrameViolation) -> Step {
        switch self.state {
        case .open:
            self.state = .closed(.failed(violation))
            return .sendAndDrop(CloseReason(violation.closeCode))
        case .closing(let outcome):
            self.state = .closed(outcome)
            return .drop
        case .closed:
            return .nothing
        }
    }

    /// The time for the peer to answer is over.
    package mutating func timedOut() -> Step {
        switch self.state {
        case .open:
            return .nothing
        case .closing(let outcome), .closed(let outcome):
            self.state = .closed(outcome)
            return .drop
        }
    }

    /// The transport has ended, by whomever.
    package mutating func transportEnded() {
        switch self.state {
        case .open: self.state = .closed(.lost)
        case .closing(let outcome): self.state = .closed(outcome)
        case .closed: break
        }
    }
}
