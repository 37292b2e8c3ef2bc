import Synchronization

/// A track's metadata and the keys for sorting and finding it, kept once for all copies of its room.
///
/// Two instances are equal if their metadata is.
package final class SharedTrackInfo: Sendable, Hashable {
    /// The track's metadata.
    package let info: TrackInfo
    /// The keys, each made on first use by the first thread that needs it.
    let sorting = AtomicLazyReference<Kept<TitleKey>>()
    let searching = AtomicLazyReference<Kept<SearchKey>>()

    package init(_ info: TrackInfo) {
        self.info = info
    }

    /// The key by which the track is sorted, which takes about as much memory as its title.
    var titleKey: TitleKey { (sorting.load() ?? sorting.storeIfNil(Kept(TitleKey(info.title)))).value }

    /// The key by which the track is found.
    ///
    /// It takes about as much memory as title, artist and album. One that is much longer, since some characters stand for
    /// whole phrases, is not kept.
    var searchKey: SearchKey {
        if let kept = searching.load() { return kept.value }
        let key = SearchKey(info.title, info.artist, info.album)
        guard key.bytes.count <= 4 * info.searchedLength else { return key }
        return searching.storeIfNil(Kept(key)).value
    }

    /// The same metadata with another length, which no key depends on.
    func lasting(_ durationMs: Int64) -> SharedTrackInfo {
        var info = info
        info.durationMs = durationMs
        let other = SharedTrackInfo(info)
        if let key = sorting.load() { _ = other.sorting.storeIfNil(key) }
        if let key = searching.load() { _ = other.searching.storeIfNil(key) }
        return other
    }

    package static func == (left: SharedTrackInfo, right: SharedTrackInfo) -> Bool {
        left === right || left.info == right.info
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(info)
    }
}

/// A key that is kept once.
final class Kept<Key: Sendable>: Sendable {
    let value: Key

    init(_ value: Key) {
        self.value = value
    }
}

extension TrackInfo {
    /// The size in bytes of the texts that are searched.
    var searchedLength: Int { title.utf8.count + (artist?.utf8.count ?? 0) + (album?.utf8.count ?? 0) }
}
