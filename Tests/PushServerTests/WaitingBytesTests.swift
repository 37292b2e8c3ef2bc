import Testing

@testable import PushServer

@Suite struct `Waiting bytes` {
    private static let step = WaitingBytes.step

    @Test func `an address may have so many, however many connections it has`() {
        let bytes = WaitingBytes(maximum: 10 * Self.step, maximumPerAddress: 4 * Self.step)
        let (one, other, elsewhere) = (bytes.account(of: 1), bytes.account(of: 1), bytes.account(of: 2))
        one.set(3 * Self.step)
        #expect(other.takes(Self.step))
        other.set(Self.step)
        #expect(!one.takes(Self.step))
        #expect(!other.takes(Self.step))
        #expect(elsewhere.takes(4 * Self.step))
        one.set(0)
        #expect(other.takes(3 * Self.step))
    }

    @Test func `the process may have so many, whoever has them`() {
        let bytes = WaitingBytes(maximum: 4 * Self.step, maximumPerAddress: 0)
        let accounts = (0..<5).map { bytes.account(of: $0) }
        for account in accounts.prefix(4) { account.set(Self.step) }
        #expect(bytes.count == 4 * Self.step)
        #expect(!accounts[4].takes(Self.step))
        #expect(accounts[4].takes(Self.step - 1))
    }

    @Test func `a connection that is gone gives back what it had`() {
        let bytes = WaitingBytes(maximum: 0, maximumPerAddress: 0)
        do {
            let account = bytes.account(of: nil)
            account.set(5 * Self.step + 1)
            #expect(bytes.count == 5 * Self.step)
        }
        #expect(bytes.count == 0)
    }

    @Test func `less than a step is not charged`() {
        let bytes = WaitingBytes(maximum: 1, maximumPerAddress: 1)
        let account = bytes.account(of: 1)
        account.set(Self.step - 1)
        #expect(bytes.count == 0)
        #expect(account.takes(Self.step - 1))
        #expect(!account.takes(Self.step))
    }
}
