import RandomTestSupport
import Testing

@testable import PostgresEventStore

struct PostgresConfigurationTests {
    @Test(arguments: [
        ("postgres://ana:s3cret@db.example:6543/rooms", "db.example:6543/rooms"),
        ("postgresql://db.example/rooms?sslmode=require&port=7000", "db.example:7000/rooms"),
        ("postgresql://a,b/rooms?target_session_attrs=read-write&port=1,2", "a,b:1,2/rooms"),
        ("host=/run/postgresql port=5433 dbname=rooms password='a b'", "/run/postgresql:5433/rooms"),
    ])
    func `every form that libpq understands is taken`(url: String, target: String) throws {
        let configuration = try PostgresConfiguration(url: url, environment: [:])
        #expect(configuration.connectionString == url)
        #expect(configuration.target == target)
    }

    @Test func `a given URL overrides the environment`() throws {
        let environment = ["DATABASE_URL": "postgres://one:1/a"]
        #expect(try PostgresConfiguration(url: "postgres://two:2/b", environment: environment).target == "two:2/b")
        #expect(try PostgresConfiguration(url: nil, environment: environment).target == "one:1/a")
        #expect(try PostgresConfiguration(url: "", environment: environment).target == "one:1/a")
    }

    @Test func `without a connection string libpq's own sources are used`() throws {
        #expect(try PostgresConfiguration(url: nil, environment: ["DATABASE_URL": ""]).connectionString == "")
    }

    @Test(arguments: [
        "postgresql:/ana:s3cret@db/rooms", "s3cret", "mysql://ana:s3cret@db/rooms", "postgres://ana:s3cret@[::1/rooms",
        "postgres://ana:s3cret%2@db/rooms", "postgres://db/rooms?s3cret=1", "host=db s3cret", "s3cret=1",
        "password='s3cret", "postgres://ana:s3cret@db:54\0/rooms",
    ])
    func `a string that libpq does not understand is refused without repeating it`(url: String) throws {
        let error = #expect(throws: PostgresConfigurationError.self) {
            try PostgresConfiguration(url: url, environment: [:])
        }
        let description = try #require(error).description
        #expect(description.hasPrefix("the database URL "))
        #expect(!description.contains("s3cret"))
        #expect(!description.contains("\n"))
    }

    @Test(arguments: [
        ("postgres://a,b/rooms?connect_timeout=3", 3, 9), ("host=a dbname=rooms connect_timeout=1", 2, 4),
        ("postgres://a,b,c/rooms", 5, 20),
    ])
    func `an address has the string's time to connect, and a migration waits until every server had its own`(
        url: String, timeout: Int, wait: Int
    ) throws {
        let configuration = try PostgresConfiguration(url: url, environment: [:])
        #expect(configuration.connectTimeout == .seconds(timeout))
        #expect(configuration.connectionWait == .seconds(1), "those who serve are told earlier")
        #expect(configuration.forMigrating.connectTimeout == .seconds(timeout))
        #expect(configuration.forMigrating.connectionWait == .seconds(wait))
    }

    @Test func `delays are drawn evenly below a bound that doubles up to the limit`() {
        var generator = SeededRandom(seed: TestSeed.fixed(1))
        let draws = (0..<1_000).map { _ in
            var backoff = Backoff(base: .milliseconds(50), limit: .seconds(2))
            return (0..<8).map { _ in backoff.next(using: &generator) }
        }
        for (attempt, bound) in [50, 100, 200, 400, 800, 1_600, 2_000, 2_000].enumerated() {
            let delays = draws.map { $0[attempt] / .milliseconds(bound) }
            #expect(delays.allSatisfy { (0...1).contains($0) })
            #expect((0.45...0.55).contains(delays.reduce(0, +) / 1_000))
        }
    }

    @Test func `after a success the delays begin again`() {
        var generator = SeededRandom(seed: TestSeed.fixed(2))
        var backoff = Backoff(base: .milliseconds(50), limit: .seconds(2))
        for _ in 0..<100 {
            _ = backoff.next(using: &generator)
            backoff.reset()
            #expect(backoff.next(using: &generator) <= .milliseconds(50))
            backoff.reset()
        }
    }
}
