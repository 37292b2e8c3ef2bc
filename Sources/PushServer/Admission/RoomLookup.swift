import RoomDomain
import RoomService
import RoomWire

/// Finds the rooms that clients name, by id or by code, whatever they name them in; the one place that does.
///
/// A look-up of a room that is not there is charged (``Admission/lookupFailed(by:)``). Whoever has used up its allowance
/// is refused before anything is looked up, so that a right guess cannot be told from a wrong one: all codes but those
/// of rooms that its connection follows, and the ids of rooms that are not in memory. Ids, which have 74 random bits, are
/// not guessed: they are charged for the work alone.
struct RoomLookup: Sendable {
    let rooms: RoomRegistry
    let admission: Admission

    /// The room that is meant, where that is known here; nil where it has to be looked up.
    ///
    /// - Throws: A refusal where too many rooms were looked for that are not there.
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

    /// Looks for a room, and calls `done` with it, on any thread.
    func find(
        _ reference: RoomReference, for seeker: RoomSeeker,
        _ done: @escaping @Sendable (Result<RoomID, CommandFailure>) -> Void
    ) {
        rooms.find(reference) { [admission] result in
            if case .failure(.noSuchRoom) = result { admission.lookupFailed(by: seeker) }
            done(result.mapError { CommandFailure($0) })
        }
    }

    /// The room that is meant, known or looked up.
    func room(_ reference: RoomReference, for seeker: RoomSeeker) async throws(CommandFailure) -> RoomID {
        if let room = try known(reference, by: seeker) { return room }
        let result = await withCheckedContinuation { continuation in
            find(reference, for: seeker) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }
}
