import Foundation
import SchemaFiles
import Testing

@Suite struct SchemaFilesTests {
    @Test(arguments: SchemaFilesTests.stores)
    func `every file of a store is compiled in, in order and byte for byte`(store: Store) throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Schema").appending(path: store.name)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
        let compiled = store.migrations.map { migration in
            let digits = String(migration.number)
            let number = String(repeating: "0", count: 4 - digits.count) + digits
            return "\(number)_\(migration.name).\(store.name).sql"
        }
        #expect(compiled == files.sorted())
        for (file, migration) in zip(compiled, store.migrations) {
            let bytes = try Data(contentsOf: folder.appending(path: file))
            #expect(migration.sql == String(decoding: bytes, as: UTF8.self))
            #expect(migration.checksum == Migration.checksum(of: Array(bytes)))
        }
    }

    @Test(arguments: SchemaFilesTests.stores)
    func `a store's migrations can be planned`(store: Store) throws {
        #expect(try MigrationPlan(known: store.migrations, applied: [], tables: []).pending == store.migrations)
    }

    struct Store: CustomTestStringConvertible {
        let name: String
        let migrations: [Migration]
        var testDescription: String { name }
    }

    static let stores = [
        Store(name: "sqlite", migrations: Schema.sqlite),
        Store(name: "postgres", migrations: Schema.postgres),
    ]
}
