import NIOCore
import RoomService
import SimulatedTime

/// The parameters of a world, drawn from its seed.
package struct WorldPlan: Sendable {
    var nodes: Int
    var loopsPerNode: Int
    var rooms: Int
    var clients: Int
    /// The number of devices with the client's machine: in every third world.
    var apps: Int
    /// The number of actions.
    var actions: Int
    /// The most microseconds between two actions.
    var pace: Int
    var weather: Weather
    /// The most milliseconds between two crashes, pauses or cuts of a node; nil: there are none.
    var troubles: Int?
    /// Whether rooms' logs get new epochs, as after a restore.
    var renewsEpochs: Bool
    /// Whether the servers tell each other which rooms moved.
    var hasBus: Bool
    /// One of this many messages between servers is lost; 0: none.
    var losesHintsOnceIn: Int
    var settings: RoomHostSettings
    /// The milliseconds by which each node's clock is ahead.
    var skews: [Double]

    /// Whether nothing fails, although it may take its time.
    var isCalm: Bool { troubles == nil && weather.isHarmless }

    /// Whether all messages arrive promptly: nothing is slow, and no hint is lost.
    var isPrompt: Bool { troubles == nil && weather.isPrompt && hasBus && losesHintsOnceIn == 0 }

    init(_ dice: Dice, seed: UInt64) {
        apps = seed % 3 == 2 ? Int(seed / 3 % 2) + 1 : 0
        nodes = [1, 2, 2, 3][dice.number(in: 0..<4)]
        loopsPerNode = dice.number(in: 1...2)
        rooms = dice.number(in: 1...3)
        clients = dice.number(in: 3...7)
        actions = dice.number(in: 60...240)
        pace = [1_000, 10_000, 60_000][dice.number(in: 0..<3)]
        // A device needs some time to connect.
        if apps > 0 { pace = max(pace, 20_000) }
        switch dice.number(in: 0..<5) {
        case 0:
            weather = .calm
        case 1:
            weather = Weather(staysAwayOnceIn: 8)
        case 2:
            weather = Weather(failsOnceIn: 20, staysAwayOnceIn: 20)
        default:
            weather = Weather(failsOnceIn: 15, losesAnswerOnceIn: 10, writesLateOnceIn: 20, staysAwayOnceIn: 15)
        }
        troubles = dice.once(in: 2) ? dice.number(in: 30...1_000) : nil
        renewsEpochs = dice.once(in: 3)
        hasBus = nodes > 1 && !dice.once(in: 4)
        losesHintsOnceIn = dice.once(in: 2) ? 0 : dice.number(in: 1...20)
        // Only where nothing is slow or lost does a forgotten hint show.
        if nodes > 1, dice.once(in: 6) {
            (weather, troubles, hasBus, losesHintsOnceIn) = (Weather(answersSlowlyOnceIn: 4), nil, true, 0)
        }
        var settings = RoomHostSettings()
        settings.logIsShared = nodes > 1 || dice.once(in: 2)
        settings.nearby.isKept = false
        settings.flushesSideBySide = dice.number(in: 1...3)
        settings.comparisonInterval = .milliseconds(Int64(dice.number(in: 20...1_000)))
        settings.evictAfter = .milliseconds(Int64([20, 300, 3_000][dice.number(in: 0..<3)]))
        settings.eventsPerSnapshot = dice.number(in: 2...40)
        settings.answers.resumableEvents = dice.once(in: 3) ? dice.number(in: 1...40) : 10_000
        if troubles != nil, dice.once(in: 4) {
            settings.conflictsInARow = 2
            settings.waitingCommandsPerRoom = 3
        }
        settings.presence.beat = .milliseconds(Int64(dice.number(in: 200...2_000)))
        settings.presence.lease = settings.presence.beat * 3
        settings.presence.grace = .milliseconds(Int64([0, 400, 3_000, 12_000][dice.number(in: 0..<4)]))
        settings.intervalsBetweenComparisons = dice.number(in: 1...6)
        // Missing hints are then noticed late.
        if troubles == nil, weather.isPrompt, hasBus, losesHintsOnceIn == 0 {
            settings.comparisonInterval = .seconds(Int64(dice.number(in: 2...4)))
        }
        if !settings.logIsShared { weather.writesLateOnceIn = 0 }
        skews = (0..<nodes).map { _ in Double(dice.number(in: -2_000...2_000)) }
        // Every state is then encoded outside the event loop.
        if dice.once(in: 2) { settings.answers.longStateBytes = 0 }
        settings.answers.answeredDeltaBytes = .max
        settings.retainUnneededWaveformsMs = Int64([0, 1_000, 10_000][dice.number(in: 0..<3)])
        settings.counting.interval = .milliseconds(Int64(dice.number(in: 20...1_000)))
        settings.counting.round = .milliseconds(Int64(dice.number(in: 500...5_000)))
        self.settings = settings
    }
}
