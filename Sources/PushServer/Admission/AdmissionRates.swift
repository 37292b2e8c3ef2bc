/// The rates and numbers that each address, session and connection may reach.
package struct AdmissionRates: Sendable {
    /// The most connections from one address; 0: any number.
    package var maximumConnectionsPerAddress = 16_384
    /// The most open sockets of one session; 0: any number.
    package var maximumSocketsPerSession = 32
    /// The most messages that a socket may send in a second, and five times as many at once; 0: any number.
    package var maximumMessagesPerSecond = 2_000
    /// The most messages of all sockets of a session in a second, and five times as many at once; 0: any number.
    package var maximumMessagesPerSession = 4_000
    /// The same for all sockets of an address; 0: any number.
    package var maximumMessagesPerAddress = 40_000
    /// The most sessions that are made from one address in a minute, and five times as many at once; 0: any number.
    package var maximumSessionsPerMinute = 600
    /// The most requests and opening handshakes from one address in a second, and five times as many at once; 0: any
    /// number.
    package var maximumRequestsPerAddress = 2_000
    /// The most requests of one session in a second, and five times as many at once; 0: any number.
    package var maximumRequestsPerSession = 500
    /// The most commands of one session in one room in a second, and five times as many at once; 0: any number.
    package var maximumCommandsPerSecond = 200
    /// The most nearby searches and new nearby subscriptions of one session in a minute, and five times as many at once;
    /// 0: any number.
    package var maximumSearchesPerMinute = 120
    /// The most watches of rooms near points, of counts and of what is played, from one address.
    let maximumWatchesPerAddress = 8_192
    /// So many times as many may come from one address.
    static let searchesOfAddress = 10
    /// The most look-ups by one session, in a minute, of rooms that do not exist, and five times as many at once; 0:
    /// any number.
    package var maximumFailedLookupsPerMinute = 60
    /// The same for one address.
    package var maximumFailedLookupsPerAddress = 600
    /// The most members that one room gets from one address in a minute, and as many at once; 0: any number.
    package var maximumJoinsPerMinute = 600
    /// The most nearby subscriptions of one connection.
    package var maximumNearbyPerConnection = 16
}
