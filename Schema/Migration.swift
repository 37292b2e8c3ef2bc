/// One numbered step of a database's schema: a file of `Schema/`, compiled into the program.
package struct Migration: Hashable, Sendable {
    /// The position in the order of migrations, from 1 without gaps.
    package let number: Int
    /// The file's name without its number and ending.
    package let name: String
    /// The file's text: SQL statements, run in one transaction that the file neither begins nor ends.
    package let sql: String
    /// ``checksum(of:)`` of the file.
    package let checksum: String

    /// Takes a file's bytes.
    package init(number: Int, name: String, file: [UInt8]) {
        self.number = number
        self.name = name
        self.sql = String(decoding: file, as: UTF8.self)
        self.checksum = Self.checksum(of: file)
    }

    /// The 64-bit FNV-1a hash of a file's bytes, 16 hexadecimal digits.
    ///
    /// It detects edits of a released file. It does not protect against a person who makes two files with the same hash.
    package static func checksum(of file: [UInt8]) -> String {
        // The offset basis and the prime of FNV-1a for 64 bits.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in file {
            hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension Sequence<Migration> {
    /// The names of the tables that are there after these migrations, the table `schema_migrations` perhaps not among
    /// them.
    package var tables: Set<String> {
        reduce(into: []) { tables, migration in
            let words = migration.sql.split { $0.isWhitespace || "(;".contains($0) }
            for index in words.indices.dropLast(2) {
                let name = String(words[index + 2])
                switch (words[index], words[index + 1]) {
                case ("CREATE", "TABLE"): tables.insert(name)
                case ("DROP", "TABLE"): tables.remove(name)
                case ("RENAME", "TO") where words[index - 3...index - 2] == ["ALTER", "TABLE"]:
                    tables.remove(String(words[index - 1]))
                    tables.insert(name)
                default: break
                }
            }
        }
    }
}

/// A migration as a database's table `schema_migrations` records it.
package struct AppliedMigration: Hashable, Sendable {
    /// Its number.
    package let number: Int
    /// Its name.
    package let name: String
    /// Its checksum when it was applied.
    package let checksum: String

    package init(number: Int, name: String, checksum: String) {
        self.number = number
        self.name = name
        self.checksum = checksum
    }

    /// The record of a migration that is being applied.
    package init(_ migration: Migration) {
        self.init(number: migration.number, name: migration.name, checksum: migration.checksum)
    }
}
