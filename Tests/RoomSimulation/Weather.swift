import EventStorage
import SimulatedTime
import Synchronization

/// The faults between the servers and their log, and their frequencies.
package struct Weather: Sendable, Equatable {
    /// The call is not carried out.
    ///
    /// Every frequency is once in this many calls, or never if it is 0.
    var failsOnceIn = 0
    /// The call is carried out or not, and its answer is lost.
    var losesAnswerOnceIn = 0
    /// The answer of a write is lost, and the write is carried out later; not if only one process writes the log, which
    /// would wait for it.
    var writesLateOnceIn = 0
    /// The call takes a hundred times as long.
    var staysAwayOnceIn = 0
    /// The call is carried out as soon as others, and its answer takes several times as long.
    var answersSlowlyOnceIn = 0

    /// Whether every call succeeds in the end.
    var isHarmless: Bool { failsOnceIn == 0 && losesAnswerOnceIn == 0 && writesLateOnceIn == 0 }

    /// Whether every call is answered within milliseconds.
    var isPrompt: Bool { isHarmless && staysAwayOnceIn == 0 }

    /// No faults.
    static let calm = Weather()

    /// The fate of one call.
    enum Fate {
        /// The call is carried out after a time, and answered after another.
        case works(Int64, Int64)
        /// The call is not carried out.
        case fails(Int64, StorageFault)
        /// The call is carried out or not after a time, and the connection is lost after another.
        case losesAnswer(isDone: Bool, Int64, Int64)
        /// The connection is lost after a time, and the call is carried out after another.
        case writesLate(Int64, Int64)
    }

    func fate(isWrite: Bool, _ dice: Dice) -> Fate {
        let usual = dice.once(in: staysAwayOnceIn) ? 1_000...300_000 : 50...3_000
        let before = dice.time(microseconds: usual)
        let after = dice.time(microseconds: dice.once(in: answersSlowlyOnceIn) ? 500...10_000 : usual)
        if dice.once(in: failsOnceIn) {
            return .fails(before, dice.once(in: 2) ? SimulatedLog.unreachable : SimulatedLog.deadlock)
        }
        if dice.once(in: losesAnswerOnceIn) { return .losesAnswer(isDone: dice.once(in: 2), before, after) }
        if isWrite, dice.once(in: writesLateOnceIn) {
            return .writesLate(before, dice.time(microseconds: 1_000...4_000_000))
        }
        return .works(before, after)
    }
}
