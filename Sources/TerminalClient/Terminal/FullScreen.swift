import Dispatch
import Glibc

/// The terminal as a whole screen: another screen than the one with the shell's lines, without a cursor, whose keys are
/// told one by one.
///
/// Whatever ends the program, the terminal is what it was: ``leave()`` for every usual end and for a stop by Ctrl-Z,
/// ``TerminalRescue`` for traps and faults. Only SIGKILL cannot be helped; `reset` repairs the terminal then.
@MainActor final class FullScreen {
    /// What a terminal, or somebody who sends signals, tells.
    enum Event: Sendable {
        case bytes([UInt8])
        case resized
        /// Ctrl-C, or a signal that asks for the end.
        case stop
        /// Ctrl-Z.
        case suspend
        /// The program goes on after it was stopped.
        case continued
        /// The terminal is gone.
        case closed
    }

    /// DECSET 1049: the other screen; 25: the cursor; 7: no wrap at the end of a line.
    private static let entering = "\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[0m\u{1B}[2J"

    let events: AsyncStream<Event>
    private let continuation: AsyncStream<Event>.Continuation
    private var sources: [any DispatchSourceProtocol] = []
    private var isEntered = false

    init() {
        (events, continuation) = AsyncStream.makeStream()
        let continuation = continuation
        let input = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
        // Sendable, and so not the main actor's: the queues of Dispatch call them.
        input.setEventHandler { @Sendable in Self.read(to: continuation) }
        sources.append(input)
        for (number, event) in [
            (SIGINT, Event.stop), (SIGTERM, .stop), (SIGHUP, .stop), (SIGTSTP, .suspend), (SIGCONT, .continued),
            (SIGWINCH, .resized),
        ] {
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { @Sendable in continuation.yield(event) }
            sources.append(source)
        }
        for source in sources { source.activate() }
    }

    /// Takes the terminal; again after a stop.
    func enter() {
        TerminalRescue.prepare()
        TerminalRescue.setRaw()
        isEntered = true
        write(Array(Self.entering.utf8))
    }

    /// Gives the terminal back.
    func leave() {
        guard isEntered else { return }
        isEntered = false
        write(Array(TerminalRescue.leaving.description.utf8))
        TerminalRescue.restore()
    }

    /// Gives the terminal back and stops until the shell lets the program go on: ``Event/continued`` comes then.
    func suspend() {
        leave()
        // SIGTSTP is caught, and its default action could not be waited for; the shell sees a stopped job either way.
        kill(getpid(), SIGSTOP)
    }

    /// Listens to the terminal no more.
    func close() {
        leave()
        for source in sources { source.cancel() }
        continuation.finish()
    }

    /// Sends bytes in one call, as far as the terminal takes them; tells ``Event/closed`` if it is gone.
    func write(_ bytes: [UInt8]) {
        if !Descriptor.write(bytes, to: STDOUT_FILENO) { continuation.yield(.closed) }
    }

    /// The size as the terminal tells it; 80 × 24 where it tells none.
    var size: ScreenSize {
        var size = winsize()
        // The structure is filled during the call.
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return ScreenSize(columns: 80, rows: 24)
        }
        return ScreenSize(columns: Int(size.ws_col), rows: Int(size.ws_row))
    }

    private nonisolated static func read(to continuation: AsyncStream<Event>.Continuation) {
        var chunk = [UInt8](repeating: 0, count: 4_096)
        // Reads at most as many bytes as the array has.
        let count = unsafe Glibc.read(STDIN_FILENO, &chunk, chunk.count)
        if count > 0 {
            continuation.yield(.bytes(Array(chunk[..<count])))
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            continuation.yield(.closed)
        }
    }
}
