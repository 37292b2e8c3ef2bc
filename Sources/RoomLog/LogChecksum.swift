import ByteText
package import FoundationEssentials
import RoomWire

/// What is kept beside each row of the log, so that a change of one byte in it is found.
///
/// A checksum covers the values, not how a database writes them: JSON by what it says (``JSONDigest``). Whoever makes a
/// row computes it, stores keep it, `backline verify` compares it. It finds damage, not forgery. It is stored, so what
/// it gives for a row never changes.
package enum LogChecksum {
    /// Of an event; nil where `payload` is no JSON text.
    package static func event(room: UUID, seq: Int, at: Int64, type: String, payload: [UInt8]) -> Int64? {
        guard let payload = JSONDigest.of(payload.span) else { return nil }
        var hash = Fingerprint(of: "event", room)
        hash.combine(Int64(seq))
        hash.combine(at)
        hash.combine(type)
        hash.combine(bits: payload)
        return Int64(bitPattern: hash.value)
    }

    /// Of what the events cannot prove of a room's head.
    package static func head(room: UUID, epoch: String) -> Int64 {
        var hash = Fingerprint(of: "head", room)
        hash.combine(epoch)
        return Int64(bitPattern: hash.value)
    }

    /// Of a remembered keyed command; nil where `result` is no JSON text.
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

    /// Of a snapshot.
    package static func snapshot(room: UUID, seq: Int, reducerVersion: Int, state: [UInt8]) -> Int64 {
        var hash = Fingerprint(of: "snapshot", room)
        hash.combine(Int64(seq))
        hash.combine(Int64(reducerVersion))
        for byte in state { hash.combine(byte) }
        return Int64(bitPattern: hash.value)
    }
}

extension Fingerprint {
    /// The beginning of a row's checksum.
    fileprivate init(of kind: String, _ room: UUID) {
        self.init()
        self.combine(kind)
        self.combine(room)
    }

    fileprivate mutating func combine(_ id: UUID) {
        let octets = id.octets
        for index in octets.indices { self.combine(octets[index]) }
    }
}
