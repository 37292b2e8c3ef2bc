package import FoundationEssentials

/// A fault in the log.
package struct Finding: Hashable, Sendable {
    /// The remedy that an operator can apply.
    package enum Remedy: String, Hashable, Sendable {
        /// Data that cannot be derived from anything else is lost.
        case restore = "restore the room from a backup, then run 'backline epoch renew' for it"
        /// The data can be derived from the events.
        case rebuild = "export the log and import it into an empty store, which makes this anew"
        /// The data can be derived from the events, and may be missing.
        case deleteSnapshot = "delete this row of snapshots: it is made anew"
        case renewEpoch = "run 'backline epoch renew' for this room"
        /// A head that counts no keyed commands has no rows for them.
        case deleteKeys = """
            delete the room's rows of command_keys, set keyed of its row of heads to 0, then run 'backline epoch \
            renew' for it: retries of its last commands are carried out again
            """
        /// It cannot be determined which rooms are affected.
        case restoreLog = """
            restore the database from a backup, or delete the rows that cannot be read; then run 'backline epoch renew'
            """
        case deleteRows = "restore the room from a backup, or delete these rows"
        case forget = "set forgotten_at of this row of directory to null: a server forgets the room again"
        case clear = "set cleared_seq of this row of directory to 0: a server clears the room again"
        case restoreWaveform = "restore this row of waveforms from a backup, or set another waveform for its track"
        case unmarkWaveform = "set unneeded_since of this row of waveforms to null"
        case deleteWaveform = "delete this row of waveforms"
        case recount = "run 'backline statistics rebuild --room' with this room"
        case recountAll = "run 'backline statistics rebuild'"
        case recomputeDay = "run 'backline statistics rebuild', which computes all days anew"
        case importAgain = "empty the database, run 'backline migrate', and import again"
    }

    /// The room; nil if the fault concerns the whole log.
    package var room: UUID?
    /// The place and kind of the fault, such as "event 17: checksum".
    package var what: String
    /// The expected value.
    package var expected: String
    /// The value found.
    package var found: String
    /// The remedy.
    package var remedy: Remedy

    init(room: UUID?, _ what: String, expected: String, found: String, _ remedy: Remedy) {
        self.room = room
        self.what = what
        self.expected = expected
        self.found = found
        self.remedy = remedy
    }
}

extension Finding: CustomStringConvertible {
    /// The finding on one line.
    package var description: String {
        let place = room.map { "room \($0.uuidString.lowercased()): " } ?? ""
        return "\(place)\(what): expected \(expected), found \(found); \(remedy.rawValue)"
    }
}

/// A checksum as shown to people and in exports: 16 hexadecimal digits.
func hexadecimal(_ value: Int64) -> String {
    let digits = String(UInt64(bitPattern: value), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
}
