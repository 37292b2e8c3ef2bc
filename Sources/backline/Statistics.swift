import ArgumentParser
import EventStorage
import FoundationEssentials
import LogMaintenance
import RoomDomain
import RoomService
import RoomStatistics

/// `backline statistics`: what is counted, compared with the log and made anew.
struct Statistics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look at what is counted, compare it with the event log, or count it anew.",
        subcommands: [Status.self, Verify.self, Rebuild.self])

    /// `backline statistics status`: how far everything is counted.
    struct Status: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Tell how far rooms are counted, and what is proven.",
            discussion: """
                Exit code: 0; 69 the log is out of reach; 78 the log has another schema.
                """)

        @OptionGroup var store: StoreSettings

        func run() async throws {
            let (summary, since) = try await store.withStatistics { archive in
                (try await archive.summary(), try await archive.rebuildingSince())
            }
            let counted = summary.streams - summary.behind - summary.excluded
            Console.print(
                "rooms      \(summary.streams): \(counted) counted, \(summary.behind) behind by \(summary.uncountedEvents) events, \(summary.excluded) forgotten"
            )
            Console.print("proven     \(summary.proven) rooms")
            Console.print("rows       \(summary.counts) counts, \(summary.plays) plays, \(summary.tracks) songs")
            let last = summary.lastSealedDay.map { ", the last of them \(StatisticsDay($0))" } ?? ""
            Console.print("sealed     \(summary.sealedDays) days\(last)")
            if let since {
                let date = Date(timeIntervalSince1970: Double(since) / 1_000).formatted(.iso8601)
                Console.print("rebuilding since \(date): run 'backline statistics rebuild' to go on")
            }
        }
    }

    /// `backline statistics verify`: compares all rows with the log.
    struct Verify: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Compare what is counted with the event log.",
            discussion: """
                Counts each room's log again, in another way than servers do, up to the position to which the room is \
                counted, and compares every row. Each finding is one line on standard output: the room, the row, what \
                was expected, what was found, what to do. The last line is a summary. Progress goes to standard error. \
                Rooms without findings are recorded as proven, and days of which all rooms are proven are sealed.

                Servers may run meanwhile.

                Exit code: 0 no findings; 1 findings; 69 the log is out of reach; 78 the log has another schema.
                """)

        @OptionGroup var store: StoreSettings
        @OptionGroup var rooms: Rooms

        @Flag(help: "Leave out rooms that are proven and were not counted since.")
        var new = false

        func run() async throws {
            let (jobs, since) = (try rooms.parallel(), try rooms.instant())
            let verification = try await store.withStatistics(jobs: jobs) { archive in
                let progress = ProgressReport()
                let clock = ServerClock.system()
                let verifier = StatisticsVerifier(archive, now: { clock.now }) { Console.print("\($0)") }
                let choice = try await rooms.choice(in: archive, since: since)
                let verification = try await verifier.verify(
                    StatisticsRooms(toVerify: choice, onlyNew: new), jobs: jobs
                ) { sum in
                    progress.tell("\(sum.rooms) rooms, \(sum.events) events", events: sum.events)
                }
                let uncounted = verification.uncounted == 0 ? "" : ", \(verification.uncounted) rooms not counted yet"
                Console.print(
                    """
                    compared \(verification.rooms) rooms, \(verification.events) events\(uncounted): \
                    \(verification.findings) findings (\(progress.rate(of: verification.events)))
                    """)
                return verification
            }
            guard verification.findings == 0 else { throw ExitCode(1) }
        }
    }

    /// `backline statistics rebuild`: counts rooms anew.
    struct Rebuild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Count rooms anew from the event log: the repair.",
            discussion: """
                Each room's rows are replaced in one transaction, so that readers see the former rows or the new ones. \
                Servers may run meanwhile. If the command is interrupted, run it again: rooms that are done are not done \
                again. Progress goes to standard error.

                Exit code: 0; 1 a room's log cannot be read; 69 the log is out of reach; 78 the log has another schema.
                """)

        @OptionGroup var store: StoreSettings
        @OptionGroup var rooms: Rooms

        func run() async throws {
            let (jobs, since) = (try rooms.parallel(), try rooms.instant())
            let result = try await store.withStatistics(jobs: jobs) { archive in
                let progress = ProgressReport()
                let clock = ServerClock.system()
                let rebuilder = StatisticsRebuilder(archive, now: { clock.now }) { Console.print("\($0)") }
                let choice = try await rooms.choice(in: archive, since: since)
                let result = try await rebuilder.rebuild(choice, jobs: jobs) { sum in
                    progress.tell("\(sum.rooms) rooms, \(sum.events) events", events: sum.events)
                }
                Console.print(
                    "rebuilt \(result.rooms) rooms, \(result.events) events (\(progress.rate(of: result.events)))")
                return result
            }
            guard result.findings == 0 else { throw ExitCode(1) }
        }
    }

    /// Which rooms, and how many at a time.
    struct Rooms: ParsableArguments {
        @Option(help: ArgumentHelp("Only the room with this id or code.", valueName: "room"))
        var room: String?

        @Option(
            help: ArgumentHelp(
                "Only rooms whose last event is of this day or a later one (UTC), such as 2026-11-22.",
                valueName: "day"))
        var since: String?

        @Option(help: ArgumentHelp("How many pages of rooms are worked on at a time: 1 to 32. [default: 2]"))
        var jobs: String?

        func parallel() throws -> Int { try Setting.count(jobs, "jobs", in: 1...32) ?? 2 }

        /// The beginning of the day, in milliseconds since the Unix epoch.
        func instant() throws -> Int64? {
            guard room == nil || since == nil else { throw Failure.usage("--room and --since exclude each other") }
            return try since.map { text in
                guard let day = StatisticsDay(text) else {
                    throw Failure.usage("--since: '\(text)' is not a day such as 2026-11-22")
                }
                return day.instant
            }
        }

        func choice(in archive: any LogArchive, since: Int64?) async throws -> StatisticsRooms.Choice {
            if let room { return .one(try await archive.room(room)) }
            return since.map { .movedSince($0) } ?? .all
        }
    }
}
