import Foundation
import Rehearsal
import Testing

/// All conversations, each read from its file.
struct ConversationFiles {
    let all: [Conversation]

    init() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Conversations")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        all = try files.filter { $0.pathExtension == "jsonl" }
            .sorted { $0.lastPathComponent < $1.lastPathComponent }
            .map { try Conversation(Array(Data(contentsOf: $0)), name: $0.lastPathComponent) }
    }
}

@Suite struct MachineConversationTests {
    @Test(arguments: RehearsedMachine.Way.allCases)
    func `the client's machine passes every conversation`(way: RehearsedMachine.Way) throws {
        for conversation in try ConversationFiles().all {
            var machine = RehearsedMachine(conversation, way: way)
            let (result, transcript) = try machine.run()
            #expect(result == .passed, "\(describe(result))\n\(transcript.joined(separator: "\n"))")
        }
    }

    @Test func `beginnings of messages change nothing, wherever they end`() throws {
        for conversation in try ConversationFiles().all {
            var machine = RehearsedMachine(conversation, way: .subscribes, sendsBeginnings: true)
            let (result, transcript) = try machine.run()
            #expect(result == .passed, "\(describe(result))\n\(transcript.joined(separator: "\n"))")
        }
    }

    private func describe(_ result: PlayerResult) -> String {
        switch result {
        case .passed: "passed"
        case .failed(let message): message
        case .skipped(let needs): "skipped: it needs \(needs.joined(separator: ", "))"
        }
    }
}
