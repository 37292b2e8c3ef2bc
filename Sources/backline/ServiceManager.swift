import Glibc
import Logging
import NIOCore
import RoomService

/// What has started the server and wants to be told how it is, such as systemd for a unit of `Type=notify`.
///
/// It names a socket in NOTIFY_SOCKET, and in WATCHDOG_USEC a time within which it wants to hear of the server
/// (sd_notify(3), sd_watchdog_enabled(3)). Where it does not, nothing is told.
struct ServiceManager: Sendable {
    /// A path or, after `@`, a name without a file.
    private let socket: String?
    private let watchdog: TimeAmount?
    private let logger: Logger

    /// The shortest and the longest time within which the server says that it lives, in microseconds.
    private static let watchdogs: ClosedRange<Int64> = 100_000...86_400_000_000

    init(logger: Logger) {
        self.logger = logger
        socket = Environment["NOTIFY_SOCKET"]
        let isMeant = Environment["WATCHDOG_PID"].map { $0 == "\(getpid())" } ?? true
        guard socket != nil, isMeant, let text = Environment["WATCHDOG_USEC"] else {
            watchdog = nil
            return
        }
        watchdog = Int64(text).flatMap { Self.watchdogs.contains($0) ? .microseconds($0) : nil }
        guard watchdog == nil else { return }
        logger.warning(
            "The service manager's watchdog cannot be served: expected 100000 to 86400000000 microseconds",
            metadata: ["WATCHDOG_USEC": "\(text)"])
    }

    /// Clients can connect; `status` is a line for people.
    func isReady(_ status: String) {
        guard let socket, !tell("READY=1\nSTATUS=\(status)") else { return }
        logger.warning(
            "The service manager cannot be told that the server is ready", metadata: ["NOTIFY_SOCKET": "\(socket)"])
    }

    /// The server has begun to stop.
    func isStopping() {
        tell("STOPPING=1\nSTATUS=sending clients away")
    }

    /// Tells at half the watchdog's interval that the server lives, until it is cancelled.
    ///
    /// Each time all its event loops have done something before.
    func keepAlive(_ loops: [any EventLoop], clock: ServerClock) async {
        guard let watchdog else { return }
        while !Task.isCancelled {
            for loop in loops { try? await loop.submit {}.get() }
            tell("WATCHDOG=1")
            await clock.sleep(for: .nanoseconds(watchdog.nanoseconds / 2))
        }
    }

    /// Whether the text was sent.
    @discardableResult
    private func tell(_ text: String) -> Bool {
        guard let socket else { return false }
        let message = Array(text.utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socket.utf8)
        let hasFile = path.first != UInt8(ascii: "@")
        if !hasFile { path[0] = 0 }
        let offset = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        // No more bytes than there are, by the line before.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let length = socklen_t(offset + path.count + (hasFile ? 1 : 0))
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        // The pointer does not leave the call.
        let connected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(descriptor, $0, length) }
        }
        guard connected == 0 else { return false }
        // A manager that has much to read is waited for, but not for ever. Both calls use what they get only while they run.
        var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = unsafe poll(&state, 1, 2_000)
        let flags = Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
        return unsafe send(descriptor, message, message.count, flags) == message.count
    }
}
