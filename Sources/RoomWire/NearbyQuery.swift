import ByteText
package import GeoSearch

/// The parameters of a nearby search (protocol, section 7); values out of range are refused, never clamped or wrapped.
package struct NearbyQuery: Sendable, Hashable {
    /// The allowed radii in metres: up to half of WGS-84's equator, more than the distance between any two points.
    package static let radii = 1.0...20_037_508.0
    /// The allowed numbers of rooms.
    package static let limits = 1...200
    /// The default radius, in metres.
    package static let usualRadius = 5_000.0
    /// The default limit.
    package static let usualLimit = 50

    /// The search's centre: never logged or stored, and kept only while the search or the subscription lasts.
    package var origin: Coordinate
    /// The radius in metres; rooms farther away are left out.
    package var radiusMeters: Double
    /// The most rooms in an answer.
    package var limit: Int

    package init(origin: Coordinate, radiusMeters: Double = usualRadius, limit: Int = usualLimit) {
        self.origin = origin
        self.radiusMeters = radiusMeters
        self.limit = limit
    }

    /// Reads `lat`, `lon`, `radiusMeters` and `limit` of a request's query: `texts` gives all values of a name.
    ///
    /// Numbers are written as in JSON (RFC 8259 §6), so that a request and a message accept the same values.
    package init(texts: (String) -> [String]) throws(MessageViolation) {
        try self.init { (name) throws(MessageViolation) in
            let texts = texts(name)
            guard texts.count < 2 else { throw MessageViolation(message: "\(name) must be given once") }
            return texts.first.map { JSONParser.number(in: $0.utf8.contiguous.span) }
        }
    }

    /// Reads the members of a message.
    init(_ fields: JSONFields) throws(MessageViolation) {
        try self.init { name in fields[name].map { $0.number } }
    }

    /// `given` returns nil for an absent field, and a wrapped nil for a field that is not a number.
    private init(given: (String) throws(MessageViolation) -> Double??) throws(MessageViolation) {
        func number(_ name: String, in range: ClosedRange<Double>) throws(MessageViolation) -> Double? {
            guard let given = try given(name) else { return nil }
            // A comparison with NaN is false.
            guard let number = given, range.contains(number) else {
                throw Self.violation(name, Int(range.lowerBound)...Int(range.upperBound))
            }
            return number
        }
        guard let latitude = try number("lat", in: -90...90) else { throw Self.violation("lat", -90...90) }
        guard let longitude = try number("lon", in: -180...180) else { throw Self.violation("lon", -180...180) }
        guard let origin = Coordinate(latitude: latitude, longitude: longitude) else {
            throw Self.violation("lat", -90...90)
        }
        self.init(origin: origin)
        if let radius = try number("radiusMeters", in: Self.radii) { radiusMeters = radius }
        if let given = try given("limit") {
            guard let limit = given.flatMap({ Int(exactly: $0) }), Self.limits.contains(limit) else {
                throw MessageViolation(message: "limit must be an integer from 1 to 200")
            }
            self.limit = limit
        }
    }

    private static func violation(_ name: String, _ range: ClosedRange<Int>) -> MessageViolation {
        MessageViolation(message: "\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
    }
}

extension NearbyQuery {
    /// The names and texts of a request's query, in this order.
    package var parameters: [(name: String, text: String)] {
        let numbers = [
            ("lat", origin.latitude), ("lon", origin.longitude), ("radiusMeters", radiusMeters),
            ("limit", Double(limit)),
        ]
        return numbers.map { name, number in
            var writer = JSONWriter(capacity: 24)
            writer.number(number)
            return (name, String(decoding: writer.bytes, as: UTF8.self))
        }
    }
}

extension JSONWriter {
    /// Writes the members of a message; default values are left out.
    mutating func members(of query: NearbyQuery) {
        self.member("lat", query.origin.latitude)
        self.member("lon", query.origin.longitude)
        if query.radiusMeters != NearbyQuery.usualRadius { self.member("radiusMeters", query.radiusMeters) }
        if query.limit != NearbyQuery.usualLimit { self.member("limit", query.limit) }
    }
}
