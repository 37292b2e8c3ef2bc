import Foundation
import RehearsedAppSupport
import RoomClient
import RoomClientTesting
import Testing

@MainActor @Suite(.serialized) struct ConversationServerTests {
    private nonisolated static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Conversations")

    private nonisolated static let names: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (files ?? []).filter { $0.hasSuffix(".jsonl") }.sorted()
    }()

    /// Holds a conversation with an app whose clock, and the server's, stands still while the machine is busy.
    private func hold(_ text: String, name: String) async throws -> [String] {
        let clock = ManualClock()
        let server = try ConversationServer(text, name: name, clock: clock)
        let ticking = Task {
            while (try? await Task.sleep(for: .milliseconds(2))) != nil { clock.advance(by: .milliseconds(5)) }
        }
        let holder = Holder()
        defer { ticking.cancel() }
        do {
            let lacking = try await server.hold { line in await holder.answer(line, server, clock) }
            await holder.app?.end()
            return lacking
        } catch {
            await holder.app?.end()
            throw error
        }
    }

    /// Keeps the app that the first line makes.
    @MainActor private final class Holder {
        var app: RehearsedApp?

        func answer(_ line: String, _ server: ConversationServer, _ clock: ManualClock) -> String {
            let answer = try? RehearsedApp.answer(Array(line.utf8), &app) { start in
                try RehearsedApp(start, transport: server, clock: clock)
            }
            return String(decoding: answer ?? [], as: UTF8.self)
        }
    }

    @Test(arguments: names) func `an app on RoomClient holds every conversation`(name: String) async throws {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        #expect(try await hold(text, name: name) == [])
    }

    @Test func `there are conversations`() { #expect(Self.names.count > 50) }

    @Test func `a difference is told with its line`() async throws {
        let text = """
            {"conversation":"wrong","rooms":{"room":{"id":"01935000-0000-7000-8000-0000000000aa","code":"7K3M9Q"}}}
            {"do":{"type":"follow","room":"$room"}}
            {"expect":{"type":"subscribe","room":"$room","position":{"epoch":"e","seq":1}}}
            """
        let failure = await #expect(throws: WaitFailure.self) { try await hold(text, name: "wrong.jsonl") }
        let message = try #require(failure?.description)
        #expect(message.hasPrefix("wrong.jsonl:3: subscribe: position"))
        #expect(message.contains("client opens /v1/"))
    }

    @Test func `what the app cannot do is told, and a text that is no conversation`() async throws {
        let rooms = #""rooms":{"room":{"id":"01935000-0000-7000-8000-0000000000aa","code":"7K3M9Q"}}"#
        #expect(try await hold(#"{"conversation":"new","needs":["flying"],\#(rooms)}"#, name: "new") == ["flying"])
        let failure = #expect(throws: WaitFailure.self) { try ConversationServer(#"{"a":1}"#, name: "none") }
        #expect(failure?.description.hasPrefix("none:1: ") == true)
    }

    @Test func `a task that is cancelled ends it`() async throws {
        let rooms = #""rooms":{"room":{"id":"01935000-0000-7000-8000-0000000000aa","code":"7K3M9Q"}}"#
        let text = """
            {"conversation":"long",\(rooms)}
            {"do":{"type":"follow","room":"$room"}}
            {"expect":{"type":"subscribe","room":"$room","position":null}}
            {"silent":3600000}
            """
        let task = Task { try await hold(text, name: "long") }
        task.cancel()
        let failure = await #expect(throws: WaitFailure.self) { try await task.value }
        let told = failure?.description ?? ""
        #expect(told.contains("the task was cancelled"), "\(told)")
    }
}
