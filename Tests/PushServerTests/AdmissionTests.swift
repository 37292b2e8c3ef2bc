import FoundationEssentials
import NIOCore
import PrometheusMetrics
import RoomDomain
import RoomService
import RoomWire
import Testing

@testable import PushServer

/// The default limits for one address and one session.
@Suite struct AdmissionTests {
    private let admission = Admission(
        RoomServerSettings(version: "0", node: "n"), registry: PrometheusRegistry())

    private func session() -> SessionID { SessionID(UUID()) }

    /// In real time, by which the limits count: it may last long on a busy machine, but waits for nothing.
    @Test func `of a crowd from one address 600 become members at once`() {
        let (room, other) = (RoomID(UUID()), RoomID(UUID()))
        let began = NIODeadline.now()
        let joined = (0..<3_019).count { _ in admission.newcomer(from: 7, to: room) == nil }
        let seconds = Double((NIODeadline.now() - began).nanoseconds) / 1e9
        #expect(joined >= 600 && Double(joined) <= 601 + seconds * 10)
        #expect(admission.newcomer(from: 7, to: other) == nil)
        #expect(admission.newcomer(from: 8, to: room) == nil)
        #expect(admission.newcomer(from: nil, to: room) == nil)
    }

    @Test func `an address has 8,192 watches, whichever of its sessions have them`() throws {
        var places: [WatchPlace?] = []
        for _ in 0..<8_192 { places.append(try admission.watch(by: Asker(session(), from: 7))) }
        let refusal = #expect(throws: CommandFailure.self) { try admission.watch(by: Asker(session(), from: 7)) }
        #expect(refusal?.code == .limitReached)
        #expect(throws: Never.self) { _ = try admission.watch(by: Asker(session(), from: 8)) }
        #expect(throws: Never.self) { _ = try admission.watch(by: Asker(session(), from: nil)) }
        // One that ends makes room for another one.
        places.removeLast()
        #expect(throws: Never.self) { places.append(try admission.watch(by: Asker(session(), from: 7))) }
        #expect(throws: CommandFailure.self) { try admission.watch(by: Asker(session(), from: 7)) }
    }

    @Test func `3,000 people behind one address may each mistype a code`() {
        for _ in 0..<3_000 {
            let seeker = RoomSeeker(session: session(), address: 7)
            #expect(throws: Never.self) { try admission.lookup(by: seeker, isOfCode: true) }
            admission.lookupFailed(by: seeker)
        }
    }

    @Test func `an address's used-up allowance limits look-ups by id only for sessions that have failed before`() {
        let (tried, new) = (RoomSeeker(session: session(), address: 7), RoomSeeker(session: session(), address: 7))
        for _ in 0..<100 { admission.lookupFailed(by: tried) }
        for _ in 0..<4_000 { admission.lookupFailed(by: RoomSeeker(session: session(), address: 7)) }
        #expect(throws: CommandFailure.self) { try admission.lookup(by: new, isOfCode: true) }
        #expect(throws: Never.self) { try admission.lookup(by: new, isOfCode: false) }
        #expect(throws: CommandFailure.self) { try admission.lookup(by: tried, isOfCode: false) }
        let elsewhere = RoomSeeker(session: tried.session, address: 8)
        #expect(throws: Never.self) { try admission.lookup(by: elsewhere, isOfCode: true) }
    }
}
