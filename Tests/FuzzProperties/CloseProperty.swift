import RandomTestSupport
import WebSocketCodec

/// The close handshake sends at most one Close frame and nothing after it, whatever happens.
///
/// It is told the results of a reader and other events, and reports the outcome of the connection once.
enum CloseProperty {
    static func check(_ reading: MessageReading, role: WebSocketRole, seed: UInt64) throws(BrokenProperty) {
        var random = SeededRandom(seed: ~seed)
        var drive = Drive(role: role)
        for step in reading.steps {
            try drive.somethingElse(&random)
            if case .close(let reason) = step { try drive.take { $0.peerClosed(reason) } }
        }
        try drive.somethingElse(&random)
        if let violation = reading.violation { try drive.take { $0.violated(violation) } }
        for _ in 0..<3 { try drive.somethingElse(&random) }
        try drive.take {
            $0.transportEnded()
            return .nothing
        }
        try require(drive.outcome != nil, "no outcome after the transport's end")
    }

    private struct Drive: ~Copyable {
        private var handshake: CloseHandshake
        private var sent = 0
        private(set) var outcome: CloseHandshake.Outcome?

        init(role: WebSocketRole) {
            self.handshake = CloseHandshake(role: role)
        }

        /// An event that the peer does not cause, or none.
        mutating func somethingElse(_ random: inout SeededRandom) throws(BrokenProperty) {
            switch random.next() & 15 {
            case 0: try self.take { $0.close(CloseReason(.goingAway, "away")) }
            case 1: try self.take { $0.close(nil) }
            case 2: try self.take { $0.timedOut() }
            case 3:
                try self.take {
                    $0.transportEnded()
                    return .nothing
                }
            default: break
            }
        }

        mutating func take(
            _ event: (inout CloseHandshake) -> CloseHandshake.Step
        ) throws(BrokenProperty) {
            let step = event(&self.handshake)
            switch step {
            case .send, .sendAndDrop: self.sent += 1
            case .drop, .nothing: break
            }
            try require(self.sent <= 1, "\(self.sent) Close frames, the last by \(step)")
            let outcome = self.handshake.outcome
            try require(
                self.handshake.isOpen == (outcome == nil), "isOpen with the outcome \(String(describing: outcome))")
            try require(!(self.handshake.isOpen && self.sent > 0), "open after \(step)")
            if let earlier = self.outcome {
                try require(outcome == earlier, "\(String(describing: outcome)) after \(earlier)")
            }
            self.outcome = outcome
        }
    }
}
