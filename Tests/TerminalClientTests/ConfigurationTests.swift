import Foundation
import Testing

@testable import TerminalClient

@Suite struct ConfigurationTests {
    private func withFolder(_ body: (ConfigurationFolder) throws -> Void) throws {
        let base = FileManager.default.temporaryDirectory.appending(path: "terminal-\(UUID())")
        defer { try? FileManager.default.removeItem(at: base) }
        try body(ConfigurationFolder(path: base.appending(path: "a/backline").path))
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func `what is remembered is the user's alone`() throws {
        try withFolder { folder in
            #expect(try folder.load() == Configuration())
            try folder.update { $0.servers["s", default: .init()].token = "bls_x" }
            #expect(try folder.load().servers["s"]?.token == "bls_x")
            #expect(try mode(folder.path) == 0o700)
            #expect(try mode(folder.path + "/terminal.json") == 0o600)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
            try folder.update { $0.server = "s" }
            #expect(try mode(folder.path) == 0o700)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["lock", "terminal.json"])
        }
    }

    @Test func `a file that cannot be read is not replaced`() throws {
        try withFolder { folder in
            try folder.update { $0.server = "s" }
            let file = URL(filePath: folder.path + "/terminal.json")
            try Data("{".utf8).write(to: file)
            #expect(throws: TerminalFailure.self) { try folder.update { $0.server = "t" } }
            #expect(try Data(contentsOf: file) == Data("{".utf8))
        }
    }

    @Test func `changes at the same time are all kept`() async throws {
        let base = FileManager.default.temporaryDirectory.appending(path: "terminal-\(UUID())")
        defer { try? FileManager.default.removeItem(at: base) }
        let folder = ConfigurationFolder(path: base.path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10 {
                group.addTask { try folder.update { $0.servers["\(number)"] = .init() } }
            }
            try await group.waitForAll()
        }
        #expect(try folder.load().servers.count == 10)
    }

    @Test func `the room that was used last is the current one, and old ones are forgotten`() {
        var configuration = Configuration()
        for number in 0..<30 { configuration.use(.init(code: "\(number)", name: "n"), at: "s") }
        configuration.use(.init(code: "12", name: "again"), at: "s")
        let rooms = configuration.rooms(at: "s")
        #expect(rooms.count == Configuration.mostRooms)
        #expect(rooms.first == .init(code: "12", name: "again"))
        #expect(rooms.filter { $0.code == "12" }.count == 1)
        #expect(configuration.rooms(at: "t").isEmpty)
    }

    @Test func `the folder is the one that the environment names`() throws {
        #expect(ConfigurationFolder(environment: ["XDG_CONFIG_HOME": "/x", "HOME": "/h"]).path == "/x/backline")
        #expect(ConfigurationFolder(environment: ["XDG_CONFIG_HOME": "", "HOME": "/h"]).path == "/h/.config/backline")
        let none = ConfigurationFolder(environment: [:])
        #expect(try none.load() == Configuration())
        #expect(throws: TerminalFailure.self) { try none.check() }
        #expect(throws: TerminalFailure.self) { try none.update { $0.server = "s" } }
    }
}
