package import NIOCore

/// How often what happens is counted.
package struct CountingSettings: Sendable {
    /// The time between two writes of counts.
    package var interval = TimeAmount.milliseconds(500)
    /// The time in which a server looks at the counts of all rooms; after its start it does so as fast as it goes.
    package var round = TimeAmount.seconds(300)
    /// The rooms, made by distinct sessions, that must have played a song before numbers across rooms name it; at least 2.
    package var leastOwners = 5

    package init() {}
}
