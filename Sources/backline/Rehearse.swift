import ArgumentParser
import FoundationEssentials
import NIOCore
import NIOPosix
import Rehearsal
import RehearsalStage
import RoomWire

/// `backline rehearse`: holds conversations with a client in any language.
struct Rehearse: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rehearse",
        abstract: "Test a client: hold conversations with it, and say what it gets wrong.",
        usage: "backline rehearse [<options>] <conversations> ... -- <program> ...",
        discussion: """
            For each conversation, a server that plays it listens on a port of 127.0.0.1, and PROGRAM is started: it is \
            told on its standard input where that server is and what to do, and asked for its state, in lines of JSON \
            that it answers on its standard output. Documentation/Conversations.md has the lines and the files. For \
            example: backline rehearse Tests/Conversations -- python3 my_client.py

            One line for each conversation goes to standard output, and what was expected where one fails. Whatever \
            PROGRAM does, the command ends.

            Exit code: 0 the client has passed all that it can take part in; 1 it has not; 64 a file is no \
            conversation, or PROGRAM cannot be started.
            """)

    @Argument(help: "Files of conversations, and folders: all files of theirs that end in .jsonl.")
    var conversations: [String]

    @Option(help: ArgumentHelp("Hold this conversation only; may be repeated.", valueName: "name"))
    var only: [String] = []

    @Flag(help: "Send every message one byte a frame and a write.")
    var cut = false

    @Flag(help: "Hold conversations in which much time goes by also with a program that cannot set its clock.")
    var slow = false

    @Option(help: "Hold so many at the same time.")
    var jobs = 4

    @Option(help: ArgumentHelp("Give a conversation up after this time.", valueName: "seconds"))
    var timeout = 60

    @Flag(help: "Print everything that happens.")
    var verbose = false

    @Flag(help: "Print an object of JSON for each conversation.")
    var json = false

    /// The command line without what follows `--`: the parser allows one list only.
    static func withoutProgram(_ arguments: [String]) -> [String] {
        guard arguments.first == configuration.commandName else { return arguments }
        return Array(arguments.prefix { $0 != "--" })
    }

    func run() async throws {
        let program = Array(CommandLine.arguments.drop { $0 != "--" }.dropFirst())
        guard (1...64).contains(jobs) else { throw Failure.usage("--jobs: \(jobs) is not 1 to 64") }
        guard (1...3_600).contains(timeout) else { throw Failure.usage("--timeout: \(timeout) is not 1 to 3600") }
        guard !program.isEmpty else { throw Failure.usage("no program: name it after --") }
        let conversations = try read()
        let settings = StageSettings(
            program: program, isCut: cut, timeoutMs: Int64(timeout) * 1_000 * (slow ? 5 : 1),
            patienceMs: slow ? nil : 15_000)
        let clock = ContinuousClock()
        let began = clock.now
        var counts: (passed: Int, failed: Int, skipped: Int) = (0, 0, 0)
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await withThrowingTaskGroup(of: StageReport.self) { tasks in
                var rest = conversations[...]
                func begin() {
                    guard let next = rest.popFirst() else { return }
                    let loop = group.next()
                    tasks.addTask { try await Stage.perform(next, settings, on: loop).get() }
                }
                for _ in 0..<jobs { begin() }
                while let report = try await tasks.next() {
                    begin()
                    switch report.result {
                    case .passed: counts.passed += 1
                    case .failed: counts.failed += 1
                    case .skipped: counts.skipped += 1
                    }
                    tell(report)
                }
            }
        } catch let fault as StageFault {
            try await group.shutdownGracefully()
            throw Failure.usage("\(fault)")
        }
        try await group.shutdownGracefully()
        if !json {
            let seconds = Self.seconds(Int64((clock.now - began) / .milliseconds(1)))
            let skipped = counts.skipped == 0 ? "" : ", \(counts.skipped) skipped"
            Console.print("\(counts.passed) passed, \(counts.failed) failed\(skipped) (\(seconds))")
        }
        guard counts.failed == 0 else { throw ExitCode(1) }
    }

    // MARK: Files

    private func read() throws -> [Conversation] {
        var files: [String] = []
        for path in conversations {
            var isFolder = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
                throw Failure.usage("there is no \(path)")
            }
            guard isFolder else {
                files.append(path)
                continue
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: path)
            files += names.filter { $0.hasSuffix(".jsonl") }.sorted().map { "\(path)/\($0)" }
        }
        let found = try files.map { path in
            guard let bytes = FileManager.default.contents(atPath: path) else {
                throw Failure.usage("\(path) cannot be read")
            }
            do throws(ConversationFault) {
                return try Conversation([UInt8](bytes), name: String(path.split(separator: "/").last ?? ""))
            } catch {
                throw Failure.usage("\(error)")
            }
        }
        for name in only where !found.contains(where: { Self.name($0) == name }) {
            throw Failure.usage("--only: there is no conversation \(name)")
        }
        let chosen = found.filter { only.isEmpty || only.contains(Self.name($0)) }
        guard !chosen.isEmpty else { throw Failure.usage("there are no conversations") }
        return chosen
    }

    private static func name(_ conversation: Conversation) -> String {
        conversation.name.hasSuffix(".jsonl") ? String(conversation.name.dropLast(6)) : conversation.name
    }

    // MARK: Reports

    private func tell(_ report: StageReport) {
        if json { return Console.print(String(decoding: Self.object(report), as: UTF8.self)) }
        let (name, time) = (Self.name(report.conversation), Self.seconds(report.milliseconds))
        switch report.result {
        case .passed: Console.print("✔ \(name) (\(time))")
        case .skipped(let needs): Console.print("- \(name): the program lacks \(needs.joined(separator: ", "))")
        case .failed(let message):
            Console.print("✘ \(name) (\(time)): \(report.conversation.title)\n    \(message)")
            if !report.errors.isEmpty {
                let errors = report.errors.split(separator: "\n").suffix(20)
                Console.print(errors.map { "    | \($0)" }.joined(separator: "\n"))
            }
        }
        if verbose { Console.print(report.transcript.joined(separator: "\n")) }
    }

    private static func object(_ report: StageReport) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("name", name(report.conversation))
        writer.member("title", report.conversation.title)
        switch report.result {
        case .passed: writer.member("result", "passed")
        case .failed(let message):
            writer.member("result", "failed")
            writer.member("message", message)
            writer.member("errors", report.errors)
        case .skipped(let needs):
            writer.member("result", "skipped")
            writer.name("lacks")
            writer.beginArray()
            for need in needs { writer.string(need) }
            writer.endArray()
        }
        writer.member("milliseconds", report.milliseconds)
        writer.endObject()
        return writer.bytes
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        let hundredths = (milliseconds + 5) / 10
        let rest = hundredths % 100
        return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest) s"
    }
}
