import RoomReplica
import Testing

@Suite struct LivenessTests {
    private func watching() -> Liveness {
        var liveness = Liveness()
        liveness.begin(at: .at(0))
        return liveness
    }

    @Test func `nothing is watched before a connection`() {
        var liveness = Liveness()
        #expect(liveness.due == nil)
        liveness.probe(at: .at(0))
        #expect(liveness.due == nil)
        #expect(liveness.look(at: .at(1_000_000)) == .alive)
    }

    @Test func `it looks once a minute, whatever arrives`() {
        var liveness = watching()
        for second: Int64 in 1...59 {
            liveness.arrived(at: .at(second * 1_000))
            #expect(liveness.due == .at(60_000))
        }
        #expect(liveness.look(at: .at(60_000)) == .alive)
        #expect(liveness.due == .at(120_000))
    }

    @Test func `silence of two beats and ten seconds is found at the next look`() {
        var liveness = watching()
        liveness.arrived(at: .at(60_000))
        #expect(liveness.look(at: .at(60_000)) == .alive)
        #expect(liveness.look(at: .at(120_000)) == .alive)
        #expect(liveness.look(at: .at(180_000)) == .silent)
    }

    @Test func `the server tells the time between its beats`() {
        var liveness = watching()
        liveness.learned(beatMs: 5_000)
        liveness.arrived(at: .at(39_000))
        #expect(liveness.look(at: .at(60_000)) == .silent)
    }

    @Test func `a probe that is not answered within three seconds is found`() {
        var liveness = watching()
        liveness.probe(at: .at(1_000))
        liveness.probe(at: .at(2_000))
        #expect(liveness.due == .at(4_000))
        #expect(liveness.look(at: .at(3_999)) == .alive)
        #expect(liveness.look(at: .at(4_000)) == .probeUnanswered)
    }

    @Test func `anything that arrives answers a probe`() {
        var liveness = watching()
        liveness.probe(at: .at(1_000))
        liveness.arrived(at: .at(1_500))
        #expect(liveness.due == .at(60_000))
        #expect(liveness.look(at: .at(4_000)) == .alive)
    }
}
