import FoundationEssentials
import NIOCore
import RandomTestSupport
import RoomDomain
import Testing

@testable import PushServer

@Suite struct `Outgoing bytes` {
    /// A simple model of the contents of an outbox.
    private struct Item {
        let bytes: [UInt8]
        /// The delta's room and first event; nil for an answer.
        let delta: (room: Int, from: Int)?
        /// Whether other connections share it.
        var isShared = false
    }

    private static func makeRooms() -> [RoomID] { (0..<3).map { _ in RoomID(UUID()) } }

    @Test(arguments: TestSeed.fixed(1...40))
    func `bytes leave in their order, and only whole deltas are dropped`(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var outbox = Outbox()
        let rooms = Self.makeRooms()
        var model: [Item] = []
        var begun = 0
        var (sent, expected): ([UInt8], [UInt8]) = ([], [])
        for step in 0..<200 {
            let bytes = [UInt8](repeating: UInt8(step), count: .random(in: 1...20_000, using: &generator))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                // Like a state, it is longer than the most that may be taken at a time.
                let shared = ByteBuffer(repeating: UInt8(step), count: 3 * bytes.count)
                outbox.append(shared: shared)
                model.append(Item(bytes: Array(shared.readableBytesView), delta: nil, isShared: true))
            case 1...2:
                outbox.append(ByteBuffer(bytes: bytes))
                model.append(Item(bytes: bytes, delta: nil))
            case 3...6:
                let room = Int.random(in: 0..<3, using: &generator)
                outbox.append(ByteBuffer(bytes: bytes), .delta, of: rooms[room], from: step)
                model.append(Item(bytes: bytes, delta: (room, step)))
            case 7...8:
                let chunk = outbox.takeChunk()
                #expect(chunk.readableBytes == min(Outbox.chunkLimit, model.reduce(-begun) { $0 + $1.bytes.count }))
                sent += Array(chunk.readableBytesView)
                var left = chunk.readableBytes
                while left > 0, let first = model.first {
                    let rest = first.bytes.count - begun
                    expected += first.bytes[begun..<begun + min(rest, left)]
                    if rest <= left {
                        model.removeFirst()
                        begun = 0
                    } else {
                        begun += left
                    }
                    left -= min(rest, left)
                }
            default:
                let room = Int.random(in: 0..<3, using: &generator)
                let dropped = outbox.drop { $0.room == rooms[room] }
                let kept = model.enumerated().filter { index, item in
                    item.delta?.room != room || index == 0 && begun > 0
                }
                let gone = model.enumerated().filter { index, item in
                    item.delta?.room == room && !(index == 0 && begun > 0)
                }
                #expect(dropped.map(\.from) == gone.compactMap { $0.element.delta?.from }, "seed \(seed)")
                model = kept.map(\.element)
            }
            #expect(outbox.byteCount == model.reduce(-begun) { $0 + $1.bytes.count }, "seed \(seed), step \(step)")
            let shared = model.enumerated().reduce(0) { sum, item in
                item.element.isShared ? sum + item.element.bytes.count - (item.offset == 0 ? begun : 0) : sum
            }
            #expect(outbox.sharedBytes == shared && outbox.ownBytes == outbox.byteCount - shared, "seed \(seed)")
            let droppable = model.enumerated().filter { $1.delta != nil && !($0 == 0 && begun > 0) }
            #expect(outbox.droppableBytes == droppable.reduce(0) { $0 + $1.element.bytes.count }, "seed \(seed)")
        }
        sent += Array(outbox.takeAll().readableBytesView)
        for (index, item) in model.enumerated() { expected += item.bytes[(index == 0 ? begun : 0)...] }
        #expect(sent == expected, "seed \(seed)")
        #expect(outbox.isEmpty && outbox.droppableBytes == 0 && outbox.sharedBytes == 0)
    }

    @Test func `shared bytes are sent as slices of their own memory`() {
        let state = ByteBuffer(repeating: 7, count: 100_000)
        let address = { (buffer: ByteBuffer) in
            // The address is only compared.
            unsafe buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
        }
        var outbox = Outbox()
        outbox.append(ByteBuffer(string: "head"))
        outbox.append(shared: state)
        outbox.append(ByteBuffer(string: "tail"))
        #expect(outbox.ownBytes == 8)
        // The first answer is joined with the bytes before it.
        var end = outbox.takeChunk().readableBytes - 4
        while outbox.sharedBytes >= Outbox.chunkLimit {
            let chunk = outbox.takeChunk()
            #expect(address(chunk) == address(state) + UInt(end))
            end += chunk.readableBytes
        }
        #expect(outbox.takeChunk().readableBytes == 100_000 - end + 4 && outbox.isEmpty)
    }

    @Test func `many short answers are kept in one piece of memory`() {
        var outbox = Outbox()
        for _ in 0..<2_000 { outbox.append(ByteBuffer(string: "pong")) }
        #expect(outbox.takeAll().readableBytes == 8_000)
    }
}
