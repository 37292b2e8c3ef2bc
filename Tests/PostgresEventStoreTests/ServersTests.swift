import Dispatch
import EventStorage
import FoundationEssentials
import Glibc
import PostgresTestSupport
import Synchronization
import SystemCalls
import Testing

@testable import PostgresEventStore

/// Several servers in one connection string, of which one is dead, hangs, or has a name that nobody finds.
@Suite
struct ServersTests {
    /// A database behind another server, whose socket lies in a folder.
    private func behind(_ folder: String, _ database: TestDatabase) -> String {
        database.url.replacing("host=", with: "host=\(folder),")
    }

    /// The configuration for a connection string, with long time limits: a test machine may be slow.
    private func patientConfiguration(_ url: String) throws -> PostgresConfiguration {
        var configuration = try PostgresConfiguration(url: url, environment: [:])
        configuration.connectTimeout = .seconds(300)
        configuration.connectionWait = .seconds(300)
        return configuration
    }

    private func answer(of pool: PostgresPool) async throws -> Int {
        let answers = try await pool.run(.calls([Call(Statement("one", "SELECT 1"))]), isWrite: false)
        await pool.close()
        return answers.count
    }

    @Test func `a server that is dead is passed over at once`() async throws {
        let database = try await TestDatabase.migrated()
        var configuration = try database.configuration()
        #expect(configuration.hosts.count == 1)
        let url = behind("/nonexistent", database)
        configuration = try patientConfiguration(url)
        // The wait after a round in which none was found would not end.
        configuration.firstBackoff = .seconds(100_000)
        configuration.largestBackoff = .seconds(100_000)
        #expect(try await answer(of: PostgresPool(configuration)) == 1)
        configuration.reconnects = false
        #expect(try await answer(of: PostgresPool(configuration)) == 1)
    }

    @Test func `a server that hangs is passed over after its time`() async throws {
        let database = try await TestDatabase.migrated()
        let hanging = try HangingServer()
        defer { withExtendedLifetime(hanging) {} }
        let url = behind(hanging.folder, database)
        var configuration = try patientConfiguration(url)
        configuration.connectionWait = .seconds(100_000)
        configuration.firstBackoff = .seconds(100_000)
        configuration.largestBackoff = .seconds(100_000)
        let pool = try PostgresPool(configuration)
        async let answers = answer(of: pool)
        while await !pool.isConnecting { try await Task.sleep(for: .milliseconds(1)) }
        pool.executor.advance(by: .seconds(301))
        #expect(try await answers == 1)
    }

    @Test func `a server that hangs while it is used is passed over at once`() async throws {
        let database = try await TestDatabase.migrated()
        let frozen = try PostgresCluster()
        defer { withExtendedLifetime(frozen) {} }
        let url = try frozen.makeDatabase(named: database.name)
        let folders = [url, database.url].map { $0.components(separatedBy: "host=")[1].prefix { $0 != "&" } }
        let both = url.replacing("host=\(folders[0])", with: "host=\(folders[0]),\(folders[1])")
        var configuration = try PostgresConfiguration(url: both, environment: [:])
        #expect(configuration.hosts.count == 2)
        configuration.connections = 1
        configuration.answerTimeout = .seconds(300)
        configuration.connectTimeout = .seconds(300)
        configuration.connectionWait = .seconds(100_000)
        let pool = try PostgresPool(configuration)
        func folder() async throws -> String {
            let answers = try await pool.run(
                .calls([Call(Statement("here", "SELECT current_setting('data_directory')"))]), isWrite: false)
            let answer = try #require(answers.last)
            return try answer.text(try #require(answer.rows.first), 0)
        }
        #expect(try await folder().hasPrefix(folders[0]))
        try frozen.freeze()
        async let lost = fault { () throws(StorageFault) in
            try await pool.run(.calls([Call(.probe)]), isWrite: false)
        }
        while await !pool.isBusy { try await Task.sleep(for: .milliseconds(1)) }
        pool.executor.advance(by: .seconds(301))
        #expect(await lost?.isUnreachable == true)
        #expect(try await folder().hasPrefix(folders[1]))
        try frozen.thaw()
        await pool.close()
    }

    @Test func `where no server can be reached, the reason is told after all were tried`() async throws {
        let url = "postgresql://ana@/rooms?host=/nonexistent,/nowhere"
        let pool = try PostgresPool(patientConfiguration(url))
        let fault = await fault { () throws(StorageFault) in
            try await pool.run(.calls([Call(Statement("one", "SELECT 1"))]), isWrite: false)
        }
        #expect(fault?.isUnreachable == true)
        #expect(fault?.cause?.message.contains("/nowhere") == true)
        await pool.close()
    }

    @Test func `a name server that does not answer holds up nobody who can be reached`() async throws {
        let database = try await TestDatabase.migrated()
        let configuration = try patientConfiguration(behind("mute.test", database))
        let end = DispatchSemaphore(value: 0)
        let pool = try PostgresPool(configuration) { _ in
            end.wait()
            return .failure(.init(message: "no answer"))
        }
        #expect(try await answer(of: pool) == 1)
        end.signal()
    }

    @Test func `an address that was looked up is the one that is connected to`() async throws {
        // Nobody listens there, and libpq says where it was refused; it finds no address of such a name by itself.
        let pool = try PostgresPool(patientConfiguration("postgresql://ana@nobody.invalid:1/rooms")) { name in
            name == "nobody.invalid" ? .success(["127.0.0.1"]) : .failure(.init(message: "another name"))
        }
        let fault = await fault { () throws(StorageFault) in
            try await pool.run(.calls([Call(.probe)]), isWrite: false)
        }
        let message = try #require(fault?.cause?.message)
        #expect(message.contains("127.0.0.1") && message.contains("port 1"), "\(message)")
        await pool.close()
    }

    @Test func `addresses that were found stay while nobody finds them anew`() async throws {
        let hosts = [
            PostgresHost(host: "one.test", port: "1"), PostgresHost(host: "two.test", address: "10.0.0.2", port: "2"),
            PostgresHost(host: "192.0.2.1", port: "3"), PostgresHost(host: "/run/postgresql", port: "4"),
        ]
        let answers = Mutex<[Result<[String], HostLookup.Fault>]>([
            .success(["10.0.0.1", "fd00::1"]), .failure(.init(message: "no answer")), .success(["10.0.0.9"]),
        ])
        let asked = Mutex<[String]>([])
        let addresses = PostgresAddresses(hosts) { name in
            asked.withLock { $0.append(name) }
            return answers.withLock { $0.removeFirst() }
        }
        // Before every lookup: what was found is fresh then, however long this takes.
        let start = ContinuousClock.now
        func taken(_ later: Duration) async -> PostgresAddresses.Known {
            await withCheckedContinuation { continuation in
                let known = Mutex<PostgresAddresses.Known?>(nil)
                let now = addresses.take(at: .now + later) {
                    continuation.resume(returning: known.withLock { $0 } ?? .awaited)
                }
                known.withLock { $0 = now }
            }
        }
        func known(_ found: [String]) -> PostgresAddresses.Known {
            let first = found.map { PostgresHost(host: "one.test", address: $0, port: "1") }
            return .addresses(first + Array(hosts[1...]))
        }
        // Those with addresses are there at once, and what was found is used from the next time on.
        let before = await taken(.zero)
        #expect([known([]), .awaited].contains(before))
        #expect(addresses.take(at: start) {} == known(["10.0.0.1", "fd00::1"]))
        _ = await taken(.seconds(10))
        #expect(addresses.take(at: start) {} == known(["10.0.0.1", "fd00::1"]), "the last good ones")
        _ = await taken(.seconds(20))
        #expect(addresses.take(at: start) {} == known(["10.0.0.9"]))
        #expect(asked.withLock { $0 } == ["one.test", "one.test", "one.test"])
    }

    @Test func `names without any address are told with their reason`() async throws {
        let addresses = PostgresAddresses([PostgresHost(host: "one.test", port: "1")]) { _ in
            .failure(.init(message: "no such name"))
        }
        let start = ContinuousClock.now
        await withCheckedContinuation { continuation in
            #expect(addresses.take(at: start) { continuation.resume() } == .awaited)
        }
        #expect(addresses.take(at: start) {} == .none(.init(message: "no such name")))
    }

    @Test func `the system finds the addresses of this machine`() throws {
        let found = try PostgresAddresses.systemLookup("localhost").get()
        #expect(!found.isEmpty && found.allSatisfy { ["127.0.0.1", "::1"].contains($0) })
        #expect(throws: HostLookup.Fault.self) {
            try PostgresAddresses.systemLookup("nobody.invalid").get()
        }
    }

    @Test(
        arguments: [
            ("postgres://a,b:7/rooms?connect_timeout=3", ["a//5432", "b//7"], 3),
            ("host=a,b port=6 hostaddr=10.0.0.1, dbname=rooms", ["a/10.0.0.1/6", "b//6"], nil),
            ("hostaddr=10.0.0.1,10.0.0.2 connect_timeout=1", ["/10.0.0.1/5432", "/10.0.0.2/5432"], 2),
            ("host=/run/postgresql,c", ["/run/postgresql//5432", "c//5432"], nil),
            ("service=rooms host=a", [], nil), ("host=a,b port=1,2,3", [], nil), ("host=a,,b", [], nil),
        ] as [(String, [String], Int?)])
    func `the servers of a connection string are those of libpq`(url: String, expected: [String], timeout: Int?) throws
    {
        let servers = try ConnectionString.servers(of: url)
        #expect(servers.hosts.map { "\($0.host)/\($0.address ?? "")/\($0.port)" } == expected)
        #expect(servers.timeout == timeout.map { .seconds($0) })
    }
}

/// A server that takes connections and says nothing.
private final class HangingServer {
    let folder: String
    private let descriptor: Int32

    init() throws {
        var template = Array("/tmp/hanging-XXXXXX".utf8CString)
        folder = try #require(unsafe mkdtemp(&template).map { unsafe String(cString: $0) })
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) {
            unsafe $0.copyBytes(from: Array("\(folder)/.s.PGSQL.5432".utf8))
        }
        let bound = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0 && listen(descriptor, 16) == 0)
    }

    deinit {
        close(descriptor)
        try? FileManager.default.removeItem(atPath: folder)
    }
}

extension PostgresPool {
    /// Whether a request is under way.
    fileprivate var isBusy: Bool { connections.contains { $0.load > 0 } }
    fileprivate var isConnecting: Bool { connections.contains { $0.isConnecting } }
}
