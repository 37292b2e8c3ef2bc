package import RoomReplica
import Synchronization

extension RoomClient {
    /// A followed room as the machine has it, for programs that tests drive; nil if it is not followed.
    ///
    /// While the value is held, the next change of the room copies what it touches.
    package func machineRoom(_ reference: RoomReference) -> ClientRoom? {
        engine.state.withLock { $0.machine?.room(reference.wire) }
    }
}
