import EventStorage
import Logging
import RoomDomain
import RoomLog

/// What comes back from the log, as inputs of the machine.
extension RoomWriter {
    /// Group commit has reported the fate of appends.
    mutating func written(_ report: AppendQueue.Report) -> [Step] {
        switch report {
        case .durable(let parts): appended(parts)
        case .overtaken: overtaken()
        case .failed(let fault, let underWay): failed(fault, underWay: underWay)
        }
    }

    /// Reads what the room lacks.
    mutating func catchUp() -> [Step] { condition == .stale ? read() : [] }

    /// Another look at the log has shown its head.
    mutating func compare(with head: StreamHead) -> [Step] {
        condition == .stale || head.epoch != epoch || head.version != version ? read() : []
    }

    /// A read of the events after `version` has ended.
    mutating func read(_ result: BatchedReads.Outcome, logger: Logger) -> [Step] {
        read(reading(of: result, logger: logger))
    }

    /// What it has brought.
    private func reading(of result: BatchedReads.Outcome, logger: Logger) -> Reading {
        switch result {
        case .success(let loaded?) where loaded.head.epoch == epoch && !loaded.continues: return .wentBack
        case .success(let loaded?) where loaded.head.epoch == epoch:
            do throws(LogFault) {
                let events = try loaded.events.recorded(after: version.seq, through: loaded.head.version.seq)
                return .events(events, keys: loaded.keys, version: loaded.head.version)
            } catch {
                logger.error(
                    "A room's log cannot be read", metadata: ["room": "\(confirmed.id)", "fault": "\(error)"])
                return .failed(.internalFault)
            }
        case .success(.some): return .replaced
        case .success(nil): return .gone
        case .failure(let fault):
            logger.debug(
                "A room could not be read", metadata: ["room": "\(confirmed.id)", "fault": "\(fault)"])
            return .failed(.unavailable)
        }
    }
}

extension RoomWriter.Reading {
    /// What a read of a whole room has brought.
    init(of result: Result<DecodedRoom, RoomFailure>) {
        self =
            switch result {
            case .success(let room): .room(room)
            case .failure(.noSuchRoom): .gone
            case .failure(let failure): .failed(failure)
            }
    }
}
