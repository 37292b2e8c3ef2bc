import ByteText
package import EventStorage
package import FoundationEssentials
import RoomWire

/// Checksums of the log's rows, stored beside each row, so that a change of one byte in it is detected.
///
/// A checksum covers the values and not how a database writes them; JSON is hashed by its meaning (``JSONDigest``). The
/// writer of a row computes the checksum, stores keep it, and `backline verify` compares it. A checksum detects damage,
/// not forgery. It is stored, so the checksum of a row must never change.
package enum LogChecksum {
    /// The checksum of an event; nil if `payload` is not JSON text.
    package static func event(room: UUID, seq: Int, at: Int64, type: String, payload: [UInt8]) -> Int64? {
        guard let payload = JSONDigest.of(payload.span) else { return nil }
        var hash = Fingerprint(of: "event", room)
        hash.combine(Int64(seq))
        hash.combine(at)
        hash.combine(type)
        hash.combine(bits: payload)
        return Int64(bitPattern: hash.value)
    }

    /// The checksum of the values in a room's head that the events cannot prove.
    package static func head(room: UUID, epoch: String) -> Int64 {
        var hash = Fingerprint(of: "head", room)
        hash.combine(epoch)
        return Int64(bitPattern: hash.value)
    }

    /// The checksum of a remembered keyed command; nil if `result` is not JSON text.
    package static func key(
        room: UUID, ordinal: Int, session: UUID, key: String, fingerprint: Int64, seq: Int, result: [UInt8]?
    ) -> Int64? {
        var hash = Fingerprint(of: "key", room)
        hash.combine(Int64(ordinal))
        hash.combine(session)
        hash.combine(key)
        hash.combine(fingerprint)
        hash.combine(Int64(seq))
        hash.combine(isPresent: result != nil)
        if let result {
            guard let result = JSONDigest.of(result.span) else { return nil }
            hash.combine(bits: result)
        }
        return Int64(bitPattern: hash.value)
    }

    /// The checksum of a snapshot.
    package static func snapshot(room: UUID, seq: Int, reducerVersion: Int, state: [UInt8]) -> Int64 {
        var hash = Fingerprint(of: "snapshot", room)
        hash.combine(Int64(seq))
        hash.combine(Int64(reducerVersion))
        for byte in state { hash.combine(byte) }
        return Int64(bitPattern: hash.value)
    }

    /// The checksum of the numbers across rooms of a day, ordered by song.
    package static func day(_ tracks: [DayTrack]) -> Int64 {
        var hash = Fingerprint()
        hash.combine("day")
        for track in tracks {
            hash.combine(track.track)
            hash.combine(Int64(track.plays))
            hash.combine(Int64(track.owners))
            hash.combine(track.playedMs)
        }
        return Int64(bitPattern: hash.value)
    }
}

extension Fingerprint {
    /// Begins a row's checksum with the kind of row and the room.
    fileprivate init(of kind: String, _ room: UUID) {
        self.init()
        self.combine(kind)
        self.combine(room)
    }

    fileprivate mutating func combine(_ id: UUID) {
        let (high, low) = id.halves
        for shift in stride(from: 56, through: 0, by: -8) { self.combine(UInt8(truncatingIfNeeded: high >> shift)) }
        for shift in stride(from: 56, through: 0, by: -8) { self.combine(UInt8(truncatingIfNeeded: low >> shift)) }
    }
}
