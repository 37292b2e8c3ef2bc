import Testing
import WebSocketCodec

struct CloseHandshakeTests {
    private enum Input {
        case close(CloseReason?)
        case peerClosed(CloseReason?)
        case violated(FrameViolation)
        case timedOut
        case transportEnded
    }

    /// The answers of a new handshake to inputs (the end of the transport has none), and its state after them.
    private struct Run: Equatable {
        var steps: [CloseHandshake.Step] = []
        var outcome: CloseHandshake.Outcome?
        var isOpen: Bool

        init(steps: [CloseHandshake.Step], outcome: CloseHandshake.Outcome?, isOpen: Bool = false) {
            self.steps = steps
            self.outcome = outcome
            self.isOpen = isOpen
        }

        init(_ role: WebSocketRole, _ inputs: Input...) {
            var handshake = CloseHandshake(role: role)
            for input in inputs {
                switch input {
                case .close(let reason): self.steps.append(handshake.close(reason))
                case .peerClosed(let reason): self.steps.append(handshake.peerClosed(reason))
                case .violated(let violation): self.steps.append(handshake.violated(violation))
                case .timedOut: self.steps.append(handshake.timedOut())
                case .transportEnded: handshake.transportEnded()
                }
            }
            self.outcome = handshake.outcome
            self.isOpen = handshake.isOpen
        }
    }

    private static let roles: [WebSocketRole] = [.client, .server]
    private static let bye = CloseReason(.goingAway, "bye")

    @Test(arguments: roles)
    func `a connection is open until somebody closes`(_ role: WebSocketRole) {
        #expect(Run(role) == Run(steps: [], outcome: nil, isOpen: true))
        #expect(Run(role, .timedOut) == Run(steps: [.nothing], outcome: nil, isOpen: true))
    }

    @Test func `a server answers the peer's close with its code and ends the transport`() {
        #expect(
            Run(.server, .peerClosed(Self.bye))
                == Run(steps: [.sendAndDrop(CloseReason(.goingAway))], outcome: .closedByPeer(Self.bye)))
    }

    @Test func `a client answers the peer's close and leaves the transport to the server, for a time`() {
        #expect(
            Run(.client, .peerClosed(Self.bye), .timedOut)
                == Run(steps: [.send(CloseReason(.goingAway)), .drop], outcome: .closedByPeer(Self.bye)))
    }

    @Test func `a close without a code is answered without one`() {
        #expect(Run(.server, .peerClosed(nil)) == Run(steps: [.sendAndDrop(nil)], outcome: .closedByPeer(nil)))
    }

    @Test func `a server that closed ends the transport when the answer comes`() {
        #expect(
            Run(.server, .close(Self.bye), .peerClosed(CloseReason(.normal)))
                == Run(steps: [.send(Self.bye), .drop], outcome: .closedHere(Self.bye)))
    }

    @Test func `a client that closed waits for the server to end the transport`() {
        #expect(
            Run(.client, .close(nil), .peerClosed(nil), .transportEnded)
                == Run(steps: [.send(nil), .nothing], outcome: .closedHere(nil)))
    }

    @Test(arguments: roles)
    func `closing twice sends one close frame`(_ role: WebSocketRole) {
        #expect(
            Run(role, .close(Self.bye), .close(nil))
                == Run(steps: [.send(Self.bye), .nothing], outcome: .closedHere(Self.bye)))
    }

    @Test(arguments: roles)
    func `closing after the peer did sends nothing more`(_ role: WebSocketRole) {
        let run = Run(role, .peerClosed(nil), .close(Self.bye), .peerClosed(Self.bye))
        #expect(run.steps.dropFirst() == [.nothing, .nothing])
        #expect(run.outcome == .closedByPeer(nil))
    }

    @Test(arguments: roles)
    func `a violation is answered with its code and ends the transport`(_ role: WebSocketRole) {
        #expect(
            Run(role, .violated(.invalidUTF8), .violated(.unmaskedFrame))
                == Run(
                    steps: [.sendAndDrop(CloseReason(.invalidPayload)), .nothing], outcome: .failed(.invalidUTF8)))
    }

    @Test(arguments: roles)
    func `a violation after our close frame ends the transport without another`(_ role: WebSocketRole) {
        #expect(
            Run(role, .close(nil), .violated(.unmaskedFrame))
                == Run(steps: [.send(nil), .drop], outcome: .closedHere(nil)))
    }

    @Test(arguments: roles)
    func `a peer that does not answer is dropped when the time is over`(_ role: WebSocketRole) {
        #expect(
            Run(role, .close(Self.bye), .timedOut)
                == Run(steps: [.send(Self.bye), .drop], outcome: .closedHere(Self.bye)))
    }

    @Test(arguments: roles)
    func `a transport that ends by itself is lost`(_ role: WebSocketRole) {
        #expect(
            Run(role, .transportEnded, .close(nil), .peerClosed(nil), .violated(.invalidUTF8))
                == Run(steps: [.nothing, .nothing, .nothing], outcome: .lost))
    }
}
