package import RoomDomain
package import RoomWire

/// Finding rooms, so that one that is not there is known before anything is asked of it.
extension RoomHost {
    /// Whether a room is in memory; one whose log has just been removed may count as such until it is looked for.
    package func isLive(_ room: RoomID) -> Bool { codes.isLive(room) }

    /// Calls `done`, on any thread, with the room meant by an id or a code, once it is in memory.
    package func find(_ reference: RoomReference, _ done: @escaping @Sendable (Result<RoomID, RoomFailure>) -> Void) {
        switch reference {
        case .id(let room):
            visit(room) { result in
                done(result.map { _ in room })
            }
        case .code:
            resolve(reference) { result in
                switch result {
                case .success(let room): self.find(.id(room), done)
                case .failure(let failure): done(.failure(failure))
                }
            }
        }
    }
}
