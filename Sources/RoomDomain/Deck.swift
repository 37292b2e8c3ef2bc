/// Queue and playback of a DJ's device, and what it has played while it was offline.
package struct Deck: Sendable, Equatable {
    /// An item to play.
    package enum Item: Sendable, Hashable {
        /// A track of the pool; it matches a waiting entry of that track, unless another item names the entry.
        case track(TrackID)
        case entry(EntryID)
    }

    /// The playback on the device.
    package enum Playback: Sendable, Equatable {
        case stopped
        /// The item was at `positionMs` at the instant `at`, and had been heard for `playedMs` by then. It began at
        /// `startedAt`; nil: now, or when the room says if it is on air there.
        case onAir(
            Item, isPaused: Bool, positionMs: Int64, at: Timestamp, startedAt: Timestamp? = nil,
            playedMs: Int64? = nil)
    }

    /// An item that was played and has ended.
    package struct Played: Sendable, Hashable {
        package var item: Item
        /// The time when it began.
        package var startedAt: Timestamp
        /// The time for which it was heard, without pauses and jumps, in milliseconds.
        package var playedMs: Int64
        /// The reason why it ended: `ended` or `skipped`.
        package var reason: FinishReason
        /// The time when it ended; nil: it was heard without a break.
        package var endedAt: Timestamp?

        package init(
            item: Item, startedAt: Timestamp, playedMs: Int64, reason: FinishReason, endedAt: Timestamp? = nil
        ) {
            self.item = item
            self.startedAt = startedAt
            self.playedMs = playedMs
            self.reason = reason
            self.endedAt = endedAt
        }

        /// The time when it ended; nil if that is beyond all times.
        var end: Timestamp? {
            if let endedAt { return endedAt }
            let (end, overflow) = startedAt.milliseconds.addingReportingOverflow(playedMs)
            return overflow ? nil : Timestamp(milliseconds: end)
        }
    }

    /// What was heard since the song that the room has on air, in the order in which it was heard.
    package var played: [Played]
    /// The waiting items, in play order.
    package var queue: [Item]
    package var playback: Playback
    /// The greatest number of an entry that the device knows; nil: it knows them all.
    ///
    /// Waiting entries with greater numbers stay.
    package var known: EntryID?

    package init(played: [Played] = [], queue: [Item], playback: Playback, known: EntryID? = nil) {
        self.played = played
        self.queue = queue
        self.playback = playback
        self.known = known
    }

    /// Whether the device did not know of an entry when it was sent.
    func isUnknown(_ entry: EntryID) -> Bool { known.map { entry.rawValue > $0.rawValue } ?? false }

    /// All items that the deck names.
    var items: [Item] {
        let named = played.map(\.item) + queue
        if case .onAir(let item, _, _, _, _, _) = playback { return named + [item] }
        return named
    }
}
