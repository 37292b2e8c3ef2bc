import EventStorage
import Synchronization

/// What goes wrong between the servers and their log, and how often.
package struct Weather: Sendable, Equatable {
    /// Nothing is done; once in so many calls, as all of these, and never where it is 0.
    var failsOnceIn = 0
    /// It is done, or not, and nobody hears of it.
    var losesAnswerOnceIn = 0
    /// Nobody hears of a write, and it is done later; not where only one process writes the log: it would wait.
    var writesLateOnceIn = 0
    /// Takes a hundred times as long.
    var staysAwayOnceIn = 0

    /// Whether every call works in the end.
    var isHarmless: Bool { failsOnceIn == 0 && losesAnswerOnceIn == 0 && writesLateOnceIn == 0 }

    /// Nothing goes wrong.
    static let calm = Weather()

    /// What becomes of one call.
    enum Fate {
        /// It is done after a time, and answered after another.
        case works(Int64, Int64)
        /// Nothing is done.
        case fails(Int64, StorageFault)
        /// It is done, or not, after a time, and the connection is lost after another.
        case losesAnswer(isDone: Bool, Int64, Int64)
        /// The connection is lost after a time, and it is done after another.
        case writesLate(Int64, Int64)
    }

    func fate(isWrite: Bool, _ dice: Dice) -> Fate {
        let usual = dice.once(in: staysAwayOnceIn) ? 1_000...300_000 : 50...3_000
        let (before, after) = (dice.time(microseconds: usual), dice.time(microseconds: usual))
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
