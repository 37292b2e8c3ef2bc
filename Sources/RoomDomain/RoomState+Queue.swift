/// Decides changes of the queue.
extension RoomState {
    func enqueue(_ track: TrackID, at index: Int?, by: MemberID?) throws(RoomRefusal) -> [RoomEvent] {
        let index = index ?? queue.count
        try requireIndex(index)
        guard queue.count < RoomLimits.queue else {
            throw .limitReached("a queue has at most \(RoomLimits.queue) entries")
        }
        try existing(track)
        try requireShare(of: by)
        try requireNoRepeat(of: track, at: index)
        let entry = EntryID(rawValue: nextEntry)
        return [.entryEnqueued(entry: entry, track: track, index: index, by: by)] + spentVotes(for: track)
    }

    func dequeue(_ entry: EntryID, by: MemberID?) throws(RoomRefusal) -> [RoomEvent] {
        _ = try place(of: entry)
        return [.entryRemoved(entry: entry, by: by)]
    }

    /// An index equal to the queue's length means the end, as one less does; the event names the resulting index.
    func move(_ entry: EntryID, to index: Int, by: MemberID?) throws(RoomRefusal) -> [RoomEvent] {
        try requireIndex(index)
        let place = try place(of: entry)
        let index = min(index, queue.count - 1)
        return index == place ? [] : [.entryMoved(entry: entry, index: index, by: by)]
    }

    /// The index of an entry in the queue; refuses an entry that is not waiting.
    func place(of entry: EntryID) throws(RoomRefusal) -> Int {
        guard let place = queue.firstIndex(where: { $0.id == entry }) else {
            throw .notFound("no entry \(entry.rawValue) in the queue")
        }
        return place
    }

    /// Refuses a member who has as many waiting entries as the room allows.
    private func requireShare(of member: MemberID?) throws(RoomRefusal) {
        let limit = settings.maxWaitingPerMember
        guard let member, limit > 0, queue.count(where: { $0.addedBy == member }) >= limit else { return }
        throw .limitReached("a member has at most \(limit) waiting entries in this room")
    }

    private func requireIndex(_ index: Int) throws(RoomRefusal) {
        guard (0...queue.count).contains(index) else { throw .badRequest("the index must be 0 to \(queue.count)") }
    }
}
