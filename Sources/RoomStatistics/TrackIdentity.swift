package import FoundationEssentials
package import RoomDomain

/// The identities of songs and artists across rooms.
///
/// They are hashes, so that no table of numbers is shared by rooms, and of what rooms must share: nobody can craft a
/// song that is counted as another one. The words are compared as pools sort them: in NFC, in lower case.
package enum TrackIdentity {
    /// The first 16 bytes of SHA-256 of artist, NUL, title; without an artist, of source, NUL, source id, NUL, title.
    package static func track(_ info: TrackInfo) -> UUID {
        var text: [UInt8] = []
        if let artist = info.artist {
            text += TitleKey(artist).bytes
        } else {
            text += info.source.utf8
            text.append(0)
            text += info.sourceID.utf8
        }
        text.append(0)
        text += TitleKey(info.title).bytes
        return identity(text)
    }

    /// The first 16 bytes of SHA-256 of the artist's name; nil without one.
    package static func artist(_ info: TrackInfo) -> UUID? {
        info.artist.map { identity(TitleKey($0).bytes) }
    }

    private static func identity(_ text: [UInt8]) -> UUID {
        let b = SHA256.hash(text)
        return UUID(
            uuid: (b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15])
        )
    }
}
