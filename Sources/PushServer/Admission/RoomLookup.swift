import RoomDomain
import RoomService
import RoomWire

/// Finds the rooms that clients name, by id or by code; no other code looks up such a room.
///
/// A look-up of a room that does not exist is charged (``Admission/lookupFailed(by:)``). A client that has used up its
/// allowance is refused before anything is looked up, so that a right guess cannot be told from a wrong one. This
/// applies to all codes except those of rooms that its connection follows, and to the ids of rooms that are not in
/// memory. Ids cannot be guessed, since they have 74 random bits; they are charged only for the work.
struct RoomLookup: Sendable {
    let rooms: RoomRegistry
    let admission: Admission

    /// Returns the room that is meant if this process knows it; nil if it has to be looked up.
    ///
    /// - Throws: A refusal after too many look-ups of rooms that do not exist.
    func known(
        _ reference: RoomReference, by seeker: RoomSeeker, isFollowed: (RoomID) -> Bool = { _ in false }
    ) throws(CommandFailure) -> RoomID? {
        switch reference {
        case .id(let room):
            guard !rooms.isLive(room) else { return room }
            try admission.lookup(by: seeker, isOfCode: false)
            return nil
        case .code(let code):
            let room = rooms.liveRoom(code: code)
            if let room, isFollowed(room) { return room }
            try admission.lookup(by: seeker, isOfCode: true)
            return room
        }
    }

    /// Looks for a room, and calls `done` with the result, on any thread.
    func find(
        _ reference: RoomReference, for seeker: RoomSeeker,
        _ done: @escaping @Sendable (Result<RoomID, CommandFailure>) -> Void
    ) {
        rooms.find(reference) { [admission] result in
            if case .failure(.noSuchRoom) = result { admission.lookupFailed(by: seeker) }
            done(result.mapError { CommandFailure($0) })
        }
    }

    /// Returns the room that is meant, after a look-up where one is needed.
    func room(_ reference: RoomReference, for seeker: RoomSeeker) async throws(CommandFailure) -> RoomID {
        if let room = try known(reference, by: seeker) { return room }
        let result = await withCheckedContinuation { continuation in
            find(reference, for: seeker) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
