/// The close handshake of one WebSocket connection (RFC 6455 §7).
///
/// The shell reports each input and carries out the step that is returned. A shell that waits for the peer after a
/// `send` sets a timer and calls ``timedOut()`` when it fires, because a peer need not answer.
package struct CloseHandshake: ~Copyable, Sendable {
    /// The next action of the shell.
    package enum Step: Equatable, Sendable {
        /// Send this Close frame and continue reading; send no data or pings after it (§5.5.1).
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
        /// The peer closed first, with this reason (`nil` is the RFC's 1005).
        case closedByPeer(CloseReason?)
        /// The peer violated the protocol.
        case failed(FrameViolation)
        /// The transport ended without any Close frame (the RFC's 1006).
        case lost
    }

    private enum State {
        case open
        /// This end's Close frame has been sent; the peer's is awaited.
        case closing(Outcome)
        /// Both Close frames have been exchanged, or no more will be; a client waits here for the server to end the
        /// transport.
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

    /// The way in which the connection ended, or is about to end; `nil` while it is open.
    package var outcome: Outcome? {
        switch self.state {
        case .open: nil
        case .closing(let outcome), .closed(let outcome): outcome
        }
    }

    /// Closes this end; further calls have no effect.
    package mutating func close(_ reason: CloseReason?) -> Step {
        switch self.state {
        case .open:
            self.state = .closing(.closedHere(reason))
            return .send(reason)
        case .closing, .closed:
            return .nothing
        }
    }

    /// Handles the peer's Close frame; its code is sent back unless this end has sent a Close frame (§5.5.1).
    ///
    /// A server then ends the transport; a client leaves that to the server (§7.1.1).
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

    /// Handles a violation by the peer: the connection fails with the violation's code (§7.1.7).
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

    /// Handles the end of the time in which the peer should have answered.
    package mutating func timedOut() -> Step {
        switch self.state {
        case .open:
            return .nothing
        case .closing(let outcome), .closed(let outcome):
            self.state = .closed(outcome)
            return .drop
        }
    }

    /// Handles the end of the transport, whichever end caused it.
    package mutating func transportEnded() {
        switch self.state {
        case .open: self.state = .closed(.lost)
        case .closing(let outcome): self.state = .closed(outcome)
        case .closed: break
        }
    }
}
