import NIOCore

/// Of which cause of a fault that goes on the operator was told.
struct ToldCause {
    /// The least time between two beginnings of one cause that are told.
    static let silence = TimeAmount.seconds(10)

    /// The cause of which was told that it has begun and not yet that it has ended.
    private var current: String?
    /// When each cause was told last.
    private var toldAt: [String: NIODeadline] = [:]

    /// Takes note of a cause; returns whether it is to be told.
    mutating func begins(_ code: String, at now: NIODeadline) -> Bool {
        guard current != code else { return false }
        if let before = toldAt[code], now - before < Self.silence { return false }
        current = code
        toldAt[code] = now
        return true
    }

    /// Takes note that there is none; returns whether that is to be told.
    mutating func ends() -> Bool {
        defer { current = nil }
        return current != nil
    }
}
