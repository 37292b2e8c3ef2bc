import NIOCore

/// When the input of one socket is read from its channel and handled: a value without a clock.
///
/// A socket handles what arrives at once, for up to a ``turn`` in each ``window``. The rest stands in line with that of
/// other sockets. A peer that was told to wait is not read from for a while, and neither is one that does not take its
/// answers: its excess waits in the network, where it costs nothing.
struct ReadingTurns {
    /// The time for which one socket is handled in a row before others have their turn, and the message in progress.
    static let turn = TimeAmount.microseconds(250)
    /// The time in which one ``turn`` is handled as soon as it arrives.
    static let window = TimeAmount.milliseconds(10)

    private var used = TimeAmount.zero
    private var windowEnd = NIODeadline.uptimeNanoseconds(0)
    /// Whether input is being handled.
    private(set) var isHandling = false
    private var isInLine = false
    /// Whether nothing is handled because the peer was told to wait.
    private(set) var isPaused = false
    /// Whether the channel wanted to read and was not allowed to.
    private(set) var isReadPutOff = false
    private var isReadScheduled = false

    // MARK: Handling

    /// Whether input that arrives now is handled at once.
    func handlesAtOnce(at now: NIODeadline) -> Bool { used < Self.turn || now >= windowEnd }

    /// Input is handled from now on; returns the time when others have their turn.
    mutating func begin(at now: NIODeadline) -> NIODeadline {
        isHandling = true
        if now >= windowEnd { (windowEnd, used) = (now + Self.window, .zero) }
        return now + Self.turn
    }

    /// The handling that began at `start` ends.
    mutating func end(from start: NIODeadline, to now: NIODeadline) {
        isHandling = false
        used = used + (now - start)
    }

    // MARK: The line

    /// Input waits; returns whether the socket must now be put in line: it is not there, and `mayGoOn`.
    mutating func standInLine(mayGoOn: @autoclosure () -> Bool) -> Bool {
        guard !isInLine, !isPaused, mayGoOn() else { return false }
        isInLine = true
        return true
    }

    /// A turn ends; returns whether the socket stays in line: input waits, and `mayGoOn`.
    mutating func turnEnded(inputWaits: Bool, mayGoOn: @autoclosure () -> Bool) -> Bool {
        isInLine = inputWaits && !isPaused && mayGoOn()
        return isInLine
    }

    /// The peer was told to wait; returns whether a pause begins now.
    mutating func pause() -> Bool {
        guard !isPaused else { return false }
        isPaused = true
        return true
    }

    /// The pause ends.
    mutating func resume() { isPaused = false }

    // MARK: Reading

    /// The channel wants to read, and may not.
    mutating func putOffRead() { isReadPutOff = true }

    /// The channel reads now; returns false if it has not asked to.
    mutating func readNow() -> Bool {
        defer { isReadPutOff = false }
        return isReadPutOff
    }

    /// Input is to be read in a while, to be dropped; returns whether that must be scheduled.
    mutating func scheduleRead() -> Bool {
        guard !isReadScheduled else { return false }
        isReadScheduled = true
        return true
    }

    /// The scheduled time has come.
    mutating func scheduledTimeCame() { isReadScheduled = false }
}
