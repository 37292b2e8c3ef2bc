import EventStorage
import FoundationEssentials
package import RoomDomain
package import RoomWire

/// Finds rooms, so that a missing room is known before anything is requested of it.
extension RoomRegistry {
    /// Whether a room is in memory; a room whose log has just been removed may count as such until it is looked for.
    package func isLive(_ room: RoomID) -> Bool { codes.isLive(room) }

    /// The live room with this code; nil if this process has none.
    package func liveRoom(code: RoomCode) -> RoomID? {
        codes.room(code)
    }

    /// Returns the room that an id or a code names.
    package func resolve(_ reference: RoomReference) async throws(RoomFailure) -> RoomID {
        switch reference {
        case .id(let id):
            return id
        case .code(let code):
            if let id = codes.room(code) { return id }
            let found: UUID?
            do throws(StorageFault) {
                found = try await dependencies.store.stream(code: code.description)
            } catch {
                throw RoomFailure(error)
            }
            guard let found else { throw .noSuchRoom }
            return RoomID(found)
        }
    }

    /// Calls `done`, on any thread, with the room that an id or a code names.
    package func resolve(_ reference: RoomReference, _ done: @escaping @Sendable (Result<RoomID, RoomFailure>) -> Void)
    {
        let isStarted = dependencies.jobs.start {
            do throws(RoomFailure) {
                done(.success(try await self.resolve(reference)))
            } catch {
                done(.failure(error))
            }
        }
        if !isStarted { done(.failure(.unavailable)) }
    }

    /// Calls `done`, on any thread, with the room that an id or a code names, once it is in memory.
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
