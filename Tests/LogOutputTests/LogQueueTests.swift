import Glibc
import LogOutput
import Synchronization
import Testing

@Suite struct LogQueueTests {
    @Test func `lines are written in their order`() async throws {
        let pipe = try Pipe()
        let queue = LogQueue(descriptor: pipe.writing)
        let lines = (0..<500).map { "line \($0)\n" }
        for line in lines { queue.add(line) }
        await queue.flush(within: .seconds(300))
        #expect(pipe.read() == lines.joined())
    }

    @Test func `lines that find no room are dropped, counted, and reported in their place`() async throws {
        let pipe = try Pipe()
        pipe.fill()
        let queue = LogQueue(descriptor: pipe.writing, capacity: 30)
        let dropped = Mutex(0)
        queue.whenDropped { lines in dropped.withLock { $0 += lines } }
        // The thread takes the first line and waits with it, because the pipe is full.
        queue.add("first\n")
        while queue.isWaiting { try await Task.sleep(for: .milliseconds(1)) }
        for number in 0..<5 { queue.add("line \(number) of 5\n") }
        #expect(dropped.withLock { $0 } == 3)
        let early = pipe.read()
        await queue.flush(within: .seconds(300))
        let report = "backline: 3 log lines were dropped: nobody read standard error\n"
        #expect(early + pipe.read() == "first\nline 0 of 5\nline 1 of 5\n" + report)
        queue.add("last\n")
        await queue.flush(within: .seconds(300))
        #expect(pipe.read() == "last\n")
    }

    @Test func `a line longer than the capacity is dropped alone`() async throws {
        let pipe = try Pipe()
        let queue = LogQueue(descriptor: pipe.writing, capacity: 10)
        queue.add("longer than ten\n")
        queue.add("short\n")
        await queue.flush(within: .seconds(300))
        #expect(pipe.read() == "backline: 1 log lines were dropped: nobody read standard error\nshort\n")
    }

    @Test func `a flush ends after its time limit if nobody reads`() async throws {
        let pipe = try Pipe()
        pipe.fill()
        let queue = LogQueue(descriptor: pipe.writing)
        queue.add("waits\n")
        await queue.flush(within: .milliseconds(50))
        let early = pipe.read()
        await queue.flush(within: .seconds(300))
        #expect(early + pipe.read() == "waits\n")
    }

    @Test func `lines that cannot be written are lost and counted`() async throws {
        signal(SIGPIPE, SIG_IGN)
        let pipe = try Pipe()
        pipe.stopReading()
        let queue = LogQueue(descriptor: pipe.writing)
        let lost = Mutex(0)
        queue.add("one\n")
        await queue.flush(within: .seconds(300))
        queue.whenDropped { lines in lost.withLock { $0 += lines } }
        #expect(lost.withLock { $0 } == 1)
        queue.add("two\n")
        await queue.flush(within: .seconds(300))
        #expect(lost.withLock { $0 } == 2)
    }
}

/// A pipe whose reading end does not block.
private final class Pipe {
    let writing: Int32
    private let reading: Int32
    private var isRead = true

    init() throws {
        var ends: [Int32] = [-1, -1]
        // The array has room for both.
        try #require(unsafe Glibc.pipe(&ends) == 0)
        (reading, writing) = (ends[0], ends[1])
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    deinit {
        if isRead { close(reading) }
        close(writing)
    }

    /// Writes until the pipe is full.
    func fill() {
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        let bytes = [UInt8](repeating: 0, count: 1)
        // The pointer does not leave the call.
        while unsafe bytes.withUnsafeBytes({ unsafe write(writing, $0.baseAddress, 1) }) == 1 {}
        _ = fcntl(writing, F_SETFL, 0)
    }

    /// Returns the bytes that were written, without those that filled the pipe.
    func read() -> String {
        var found: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            // At most as many bytes as the array has.
            let count = unsafe Glibc.read(reading, &chunk, chunk.count)
            guard count > 0 else { return String(decoding: found.filter { $0 != 0 }, as: UTF8.self) }
            found += chunk[..<count]
        }
    }

    func stopReading() {
        isRead = false
        close(reading)
    }
}
