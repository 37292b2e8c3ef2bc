import Synchronization

/// What is known of a track, kept once for all copies of its room, with the keys by which it is sorted and found.
///
/// Two of them are equal where what is known is.
package final class SharedTrackInfo: Sendable, Hashable {
    /// What is known of the track.
    package let info: TrackInfo
    /// Made when they are first asked for, by whoever asks first.
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

/// By what a track is sorted and found.
final class TrackKeys: Sendable {
    /// The title's key.
    let title: TitleKey
    /// The keys of artist and album with ``separator`` between them; empty where there is neither.
    let rest: [UInt8]

    /// A byte that no text in UTF-8 has.
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

    /// How many bytes are looked at to find a text in them.
    var count: Int { title.bytes.count + rest.count }
}
