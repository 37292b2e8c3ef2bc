import Synchronization

/// A track's metadata and the keys for sorting and finding it, kept once for all copies of its room.
///
/// Two instances are equal if their metadata is.
package final class SharedTrackInfo: Sendable, Hashable {
    /// The track's metadata.
    package let info: TrackInfo
    /// The keys, made on first use by the first thread that needs them.
    private let made = AtomicLazyReference<TrackKeys>()

    package init(_ info: TrackInfo) {
        self.info = info
    }

    /// The keys of the track; they are made once and take about as much memory as title, artist and album.
    var keys: TrackKeys { made.load() ?? made.storeIfNil(TrackKeys(info)) }

    package static func == (left: SharedTrackInfo, right: SharedTrackInfo) -> Bool {
        left === right || left.info == right.info
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(info)
    }
}

/// The keys by which a track is sorted and found.
final class TrackKeys: Sendable {
    /// The title's key.
    let title: TitleKey
    /// The keys of artist and album with ``separator`` between them; empty if the track has neither.
    let rest: [UInt8]

    /// A byte that never occurs in UTF-8.
    static let separator: UInt8 = 0xFF

    fileprivate init(_ info: TrackInfo) {
        title = TitleKey(info.title)
        var rest = info.artist.map { TitleKey($0).bytes } ?? []
        if let album = info.album {
            rest.append(Self.separator)
            rest += TitleKey(album).bytes
        }
        self.rest = rest
    }

    /// The number of bytes that are examined to find a text in them.
    var count: Int { title.bytes.count + rest.count }
}
