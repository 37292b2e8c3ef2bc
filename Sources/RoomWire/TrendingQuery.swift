import GeoSearch

/// The parameters of a subscription to what is played across rooms (protocol, section 8).
package struct TrendingQuery: Sendable, Equatable {
    /// The default stretch of time.
    package static let usualWindow = StatisticsWindow.day

    package var window: StatisticsWindow
    /// The circle whose rooms count; nil: all rooms.
    ///
    /// Never logged, and kept only while the subscription lasts.
    package var place: NearbyQuery?
    /// The most songs in an answer.
    package var limit: Int

    package init(
        window: StatisticsWindow = usualWindow, place: NearbyQuery? = nil, limit: Int = NearbyQuery.usualLimit
    ) {
        self.window = window
        self.place = place
        self.limit = limit
    }

    /// Reads the members of a message.
    init(_ fields: JSONFields) throws(MessageViolation) {
        self.init()
        do throws(FieldViolation) {
            window = try fields.choiceIfPresent("window") ?? Self.usualWindow
            if let given = try fields.countIfPresent("limit") {
                guard NearbyQuery.limits.contains(given) else {
                    throw fields.violation("limit", "an integer from 1 to 200")
                }
                limit = given
            }
        } catch {
            throw MessageViolation(error)
        }
        if ["lat", "lon", "radiusMeters"].contains(where: { fields[$0] != nil }) { place = try NearbyQuery(fields) }
    }
}

extension JSONWriter {
    /// Writes the members of a message; default values are left out.
    mutating func members(of query: TrendingQuery) {
        if query.window != TrendingQuery.usualWindow { self.member("window", choice: query.window) }
        if let place = query.place {
            self.member("lat", place.origin.latitude)
            self.member("lon", place.origin.longitude)
            if place.radiusMeters != NearbyQuery.usualRadius { self.member("radiusMeters", place.radiusMeters) }
        }
        if query.limit != NearbyQuery.usualLimit { self.member("limit", query.limit) }
    }
}
