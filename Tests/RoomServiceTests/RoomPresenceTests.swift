import NIOCore
import RandomTestSupport
import RoomDomain
import RoomTestSupport
import RoomWire
import Testing

@testable import RoomService

/// The messages about online members to a room's followers.
@Suite struct RoomPresenceTests {
    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private func id(_ number: Int) -> MemberID { MemberID(rawValue: number) }

    private func frame(_ online: Int, on: [Int] = [], off: [Int] = []) -> RoomPresence.Frame {
        RoomPresence.Frame(online: online, on: on.map(id), off: off.map(id), isCountOnly: false)
    }

    @Test func `arrivals and departures are sent in one frame, ascending`() {
        var presence = RoomPresence()
        for number in [3, 1, 2] { presence.set(id(number), isOnline: true) }
        #expect(presence.takeFrame(at: Self.start) == frame(3, on: [1, 2, 3]))
        presence.set(id(4), isOnline: true)
        presence.set(id(3), isOnline: false)
        presence.set(id(1), isOnline: false)
        #expect(presence.takeFrame(at: Self.start + .seconds(1)) == frame(2, on: [4], off: [1, 3]))
    }

    @Test func `frames keep their distance`() {
        var presence = RoomPresence()
        var now = Self.start
        var frames: [NIODeadline] = []
        for number in 1...1_000 {
            presence.set(id(number), isOnline: true)
            if presence.takeFrame(at: now) != nil { frames.append(now) }
            now = now + .milliseconds(10)
        }
        for (index, first) in frames.enumerated() where index + 4 < frames.count {
            #expect(frames[index + 4] - first > .milliseconds(1_100))
        }
        #expect(frames.count > 30)
    }

    @Test func `a member who came and went between two frames is not mentioned`() {
        var presence = RoomPresence()
        presence.set(id(1), isOnline: true)
        presence.set(id(1), isOnline: false)
        #expect(presence.frameDue == nil)
        #expect(presence.takeFrame(at: Self.start) == nil)
    }

    @Test func `a member named only in a snapshot is taken back in a frame`() {
        var presence = RoomPresence()
        presence.set(id(1), isOnline: true)
        #expect(presence.told() == Presence(online: 1, members: [id(1)]))
        presence.set(id(1), isOnline: false)
        #expect(presence.takeFrame(at: Self.start) == frame(0, off: [1]))
    }

    @Test func `more than a thousand are counted only, and all are named when they are fewer again`() {
        var presence = RoomPresence()
        for number in 1...1_000 { presence.set(id(number), isOnline: true) }
        #expect(presence.takeFrame(at: Self.start) == frame(1_000, on: Array(1...1_000)))
        presence.set(id(1_001), isOnline: true)
        #expect(presence.told() == Presence(online: 1_001, members: nil))
        let counted = RoomPresence.Frame(online: 1_001, on: [], off: [], isCountOnly: true)
        #expect(presence.takeFrame(at: Self.start + .seconds(1)) == counted)
        presence.set(id(7), isOnline: false)
        let rest = (1...1_001).filter { $0 != 7 }
        #expect(presence.takeFrame(at: Self.start + .seconds(2)) == frame(1_000, on: rest, off: [7]))
        presence.set(id(8), isOnline: false)
        #expect(presence.takeFrame(at: Self.start + .seconds(3)) == frame(999, off: [8]))
    }

    @Test(arguments: TestSeed.fixed(1...50))
    func `a new follower knows the online members after the next frame`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var presence = RoomPresence()
        var truth: Set<MemberID> = []
        var followers: [Set<MemberID>] = []
        for step in 0..<300 {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
                followers.append(Set(presence.told().members ?? []))
                #expect(followers.last == truth, "seed \(seed)")
            case 1:
                let frame = presence.takeFrame(at: Self.start + .seconds(Int64(step)))
                for index in followers.indices {
                    followers[index] = followers[index].union(frame?.on ?? []).subtracting(frame?.off ?? [])
                    #expect(followers[index] == truth, "seed \(seed), step \(step)")
                }
            default:
                let member = id(.random(in: 1...6, using: &random))
                let isOnline = Bool.random(using: &random)
                #expect(presence.set(member, isOnline: isOnline) == (truth.contains(member) != isOnline))
                if isOnline { truth.insert(member) } else { truth.remove(member) }
            }
            #expect(presence.online == truth.count)
        }
    }

    @Test func `a member reacts five times in any second`() {
        var limit = ReactionLimit()
        var taken: [NIODeadline] = []
        var now = Self.start
        for _ in 0..<500 {
            if let wait = limit.take(id(1), at: now) {
                // A member who waits as told is accepted.
                var later = limit
                #expect(later.take(id(1), at: now + wait) == nil)
            } else {
                taken.append(now)
            }
            now = now + .milliseconds(13)
        }
        for (index, first) in taken.enumerated() where index + 5 < taken.count {
            #expect(taken[index + 5] - first >= .seconds(1))
        }
        #expect(taken.count > 30)
        #expect(limit.take(id(2), at: now) == nil)
    }
}
