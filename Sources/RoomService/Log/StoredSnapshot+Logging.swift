import EventStorage
import Logging
import RoomDomain
import RoomLog

extension StoredSnapshot {
    /// The room in the snapshot; nil, with a warning in the log, if the snapshot is damaged.
    ///
    /// Then the log is replayed from its beginning, which costs only time.
    func state(of room: RoomID, logger: Logger) -> RoomState? {
        do throws(LogFault) {
            return try state(of: room)
        } catch {
            logger.warning(
                "A snapshot is damaged and is not used: delete its row, nothing is lost with it",
                metadata: ["room": "\(room)", "seq": "\(seq)", "fault": "\(error)"])
            return nil
        }
    }
}
