import EventStorage
import Logging
import RoomDomain
import RoomLog

extension StoredSnapshot {
    /// The room as it was; nil, and a warning, where the snapshot is not what was kept.
    ///
    /// The log is replayed from its beginning then: nothing is lost but time.
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
