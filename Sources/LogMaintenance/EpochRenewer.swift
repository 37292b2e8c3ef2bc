package import EventStorage
package import FoundationEssentials
import RoomDomain
import RoomLog

/// Gives rooms new epochs, so that no client resumes into a history that no longer exists.
package enum EpochRenewer {
    /// Renews one room's epoch; false if there is no such room.
    package static func renew(
        _ room: UUID, in archive: any LogArchive, random: inout some RandomNumberGenerator
    ) async throws(StorageFault) -> Bool {
        guard try await !archive.heads(of: [room]).isEmpty else { return false }
        try await archive.renewEpochs([EpochRenewal(of: RoomID(room), random: random.next())])
        return true
    }

    /// Renews every room's epoch and returns the number of rooms.
    package static func renewAll(
        in archive: any LogArchive, random: inout some RandomNumberGenerator, progress: (Int) -> Void
    ) async throws(StorageFault) -> Int {
        var count = 0
        var last: UUID?
        while true {
            let rooms = try await archive.streams(in: .heads, after: last, limit: 1_000)
            guard let end = rooms.last else { return count }
            last = end
            try await archive.renewEpochs(rooms.map { EpochRenewal(of: RoomID($0), random: random.next()) })
            count += rooms.count
            progress(count)
        }
    }
}
