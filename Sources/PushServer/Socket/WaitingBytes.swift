import Synchronization

/// The bytes that wait for peers, counted for each address and for the process.
///
/// Bytes that are encoded once and sent to many are charged once (``HeldStates``); short messages are not charged.
/// Bytes are charged in steps of ``step``, so that a connection with little output takes no lock.
final class WaitingBytes: Sendable {
    /// One connection's part, confined to its event loop; releasing it ends the charge.
    final class Account {
        private let whole: WaitingBytes
        /// The address that the peer comes from (``PeerAddress/network``); nil if that is not known or stands for many.
        let network: UInt64?
        private var steps = 0

        fileprivate init(_ whole: WaitingBytes, network: UInt64?) {
            self.whole = whole
            self.network = network
        }

        deinit {
            if steps > 0 { whole.add(-steps, of: network) }
        }

        /// Sets the number of bytes that wait for this connection.
        func set(_ bytes: Int) {
            let wanted = bytes / WaitingBytes.step
            guard wanted != steps else { return }
            whole.add(wanted - steps, of: network)
            steps = wanted
        }

        /// Whether `bytes` more may wait, by the limits of the connection's address and of the process.
        ///
        /// Less than a step is always allowed, so that answers and control frames reach everybody.
        func takes(_ bytes: Int) -> Bool { bytes < WaitingBytes.step || whole.takes(bytes, of: network) }
    }

    /// The bytes of one answer, charged until this is released.
    final class Charge: Sendable {
        private let whole: WaitingBytes
        private let network: UInt64?
        private let steps: Int

        fileprivate init(_ whole: WaitingBytes, network: UInt64?, steps: Int) {
            self.whole = whole
            self.network = network
            self.steps = steps
        }

        deinit {
            whole.add(-steps, of: network)
        }
    }

    private struct State {
        var steps = 0
        var stepsOfNetwork: [UInt64: Int] = [:]
    }

    /// The unit in which bytes are charged.
    static let step = 16_384

    private let maximum: Int
    private let maximumPerAddress: Int
    private let state = Mutex(State())

    /// Allows `maximum` waiting bytes in the process and `maximumPerAddress` for one address; 0 allows any number.
    init(maximum: Int, maximumPerAddress: Int) {
        self.maximum = maximum == 0 ? .max : maximum
        self.maximumPerAddress = maximumPerAddress == 0 ? .max : maximumPerAddress
    }

    /// Makes the account of a new connection from an address (``PeerAddress/network``); nil if that is not known or
    /// stands for many.
    func account(of network: UInt64?) -> Account { Account(self, network: network) }

    /// The number of waiting bytes, in whole steps.
    var count: Int { state.withLock { $0.steps } * Self.step }

    /// Charges the bytes of one answer to an address; nil, with nothing charged, if the limits do not allow them.
    func charge(_ bytes: Int, to network: UInt64?) -> Charge? {
        guard takes(bytes, of: network) else { return nil }
        let steps = bytes / Self.step
        add(steps, of: network)
        return Charge(self, network: network, steps: steps)
    }

    /// Whether `bytes` more may wait for the peers of an address.
    func takes(_ bytes: Int, of network: UInt64?) -> Bool {
        state.withLock { state in
            let ofNetwork = network.flatMap { state.stepsOfNetwork[$0] } ?? 0
            return state.steps * Self.step <= maximum - bytes && ofNetwork * Self.step <= maximumPerAddress - bytes
        }
    }

    /// Charges steps to the process, and to an address.
    func add(_ steps: Int, of network: UInt64?) {
        state.withLock { $0.steps += steps }
        if let network { add(steps, ofAddress: network) }
    }

    /// Charges steps to an address only.
    func add(_ steps: Int, ofAddress network: UInt64) {
        state.withLock { state in
            let sum = (state.stepsOfNetwork[network] ?? 0) + steps
            state.stepsOfNetwork[network] = sum == 0 ? nil : sum
        }
    }
}
