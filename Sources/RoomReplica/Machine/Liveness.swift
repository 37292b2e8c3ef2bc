/// Whether the connection still answers: one watchdog, and no timer for what arrives.
///
/// The server sends a ping and a beat every `beatMs`. The watchdog looks at most once a minute whether anything has
/// arrived within twice that time and ten seconds.
package struct Liveness: Sendable, Equatable {
    /// The time between two looks.
    static let lookMs: Int64 = 60_000
    /// The time for an answer to a probe.
    static let probeMs: Int64 = 3_000
    /// The time between two beats before the server has told its own.
    static let usualBeatMs: Int64 = 25_000

    package enum Finding: Equatable, Sendable {
        /// Nothing says that it is dead.
        case alive
        /// Nothing has arrived for too long.
        case silent
        /// A probe was not answered.
        case probeUnanswered
    }

    private var heard: ClientInstant?
    private var look: ClientInstant?
    private var probe: ClientInstant?
    private var beatMs = Self.usualBeatMs

    package init() {}

    /// The next look; nil if nothing is watched.
    package var due: ClientInstant? { [look, probe].compactMap { $0 }.min() }

    /// Begins to watch a connection that has just opened, or an attempt that opens then.
    package mutating func begin(at now: ClientInstant) {
        heard = now
        probe = nil
        look = now.advanced(byMs: Self.lookMs)
    }

    /// Watches nothing.
    package mutating func end() { (heard, look, probe) = (nil, nil, nil) }

    /// Anything has arrived.
    package mutating func arrived(at now: ClientInstant) {
        heard = now
        probe = nil
    }

    /// The server has told the time between its beats.
    package mutating func learned(beatMs: Int) {
        // A beat that is out of all bounds must not turn the watchdog off, or make it bark at every look.
        self.beatMs = min(max(Int64(beatMs), 1_000), 600_000)
    }

    /// Something that is answered at once has been sent.
    package mutating func probe(at now: ClientInstant) {
        guard heard != nil else { return }
        probe = probe ?? now.advanced(byMs: Self.probeMs)
    }

    /// Looks, if a look is due.
    package mutating func look(at now: ClientInstant) -> Finding {
        if let probe, probe <= now { return .probeUnanswered }
        guard let look, look <= now, let heard else { return .alive }
        self.look = now.advanced(byMs: Self.lookMs)
        return heard.advanced(byMs: 2 * beatMs + 10_000) < now ? .silent : .alive
    }
}
