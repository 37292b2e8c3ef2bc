import Synchronization

/// Bytes that wait for peers: for each address, and for the process.
///
/// What is encoded once and sent to many is charged once (``HeldStates``), short messages to nobody. Bytes are charged in steps of ``step``, so that a
/// connection with little to send takes no lock.
final class WaitingBytes: Sendable {
    /// One connection's part, confined to its event loop; it is given back once this is gone.
    final class Account {
        private let whole: WaitingBytes
        /// Where the peer comes from (``PeerAddress/network``); nil where that is not known or stands for many.
        let network: UInt64?
        private var steps = 0

        fileprivate init(_ whole: WaitingBytes, network: UInt64?) {
            self.whole = whole
            self.network = network
        }

        deinit {
            if steps > 0 { whole.add(-steps, of: network) }
        }

        /// Sets how many bytes wait for this connection.
        func set(_ bytes: Int) {
            let wanted = bytes / WaitingBytes.step
            guard wanted != steps else { return }
            whole.add(wanted - steps, of: network)
            steps = wanted
        }

        /// Whether `bytes` more may wait, by the limits of the connection's address and of the process.
        ///
        /// Less than a step always may: answers and control frames reach everybody.
        func takes(_ bytes: Int) -> Bool { bytes < WaitingBytes.step || whole.takes(bytes, of: network) }
    }

    /// Bytes of one answer, charged until this is gone.
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

    /// In what amounts bytes are charged.
    static let step = 16_384

    private let maximum: Int
    private let maximumPerAddress: Int
    private let state = Mutex(State())

    /// Lets `maximum` bytes wait in the process and `maximumPerAddress` for one address; 0: any number.
    init(maximum: Int, maximumPerAddress: Int) {
        self.maximum = maximum == 0 ? .max : maximum
        self.maximumPerAddress = maximumPerAddress == 0 ? .max : maximumPerAddress
    }

    /// The account of a new connection from an address (``PeerAddress/network``); nil where that is not known or stands
    /// for many.
    func account(of network: UInt64?) -> Account { Account(self, network: network) }

    /// How many bytes wait, in whole steps.
    var count: Int { state.withLock { $0.steps } * Self.step }

    /// Charges bytes of one answer to an address; nil, with nothing charged, where there is no room for them.
    func charge(_ bytes: Int, to network: UInt64?) -> Charge? {
        guard takes(bytes, of: network) else { return nil }
        let steps = bytes / Self.step
        add(steps, of: network)
        return Charge(self, network: network, steps: steps)
    }

    /// Whether `bytes` more may wait for peers of an address.
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

    /// Charges steps to an address alone.
    func add(_ steps: Int, ofAddress network: UInt64) {
        state.withLock { state in
            let sum = (state.stepsOfNetwork[network] ?? 0) + steps
            state.stepsOfNetwork[network] = sum == 0 ? nil : sum
        }
    }
}
