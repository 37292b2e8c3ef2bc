#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The two clocks of a device, and its sleep.
///
/// Tests have a manual one in `RoomClientTesting`.
public protocol ClientClock: Sendable {
    /// The time since an instant that is fixed while the program runs; it never goes back, and counts while the device
    /// sleeps.
    var uptime: Duration { get }
    /// The device's date, in milliseconds since 1970.
    var date: Int64 { get }
    /// Waits until ``uptime`` has reached a time.
    func sleep(until uptime: Duration) async throws(CancellationError)
}

/// The clocks of the system.
public struct SystemClock: ClientClock {
    private let origin = ContinuousClock.now

    /// The clocks of the system.
    public init() {}

    /// The time since the clock was made.
    public var uptime: Duration { origin.duration(to: .now) }

    /// The date.
    public var date: Int64 { Int64((Date().timeIntervalSince1970 * 1_000).rounded(.down)) }

    /// Waits until a time since the clock was made.
    public func sleep(until uptime: Duration) async throws(CancellationError) {
        do {
            try await Task.sleep(until: origin + uptime, tolerance: .milliseconds(1), clock: .continuous)
        } catch {
            throw CancellationError()
        }
    }
}
