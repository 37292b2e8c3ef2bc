package import GeoSearch

/// What a nearby search asks for (protocol, section 7): never clamped, never wrapped.
package struct NearbyQuery: Sendable, Equatable {
    /// Metres: up to half of WGS-84's equator, farther than any two points are apart.
    package static let radii = 1.0...20_037_508.0
    /// How many rooms may be asked for.
    package static let limits = 1...200
    /// The radius where none is given, in metres.
    package static let usualRadius = 5_000.0
    /// The limit where none is given.
    package static let usualLimit = 50

    /// The point asked about: neither kept longer than the search lasts nor logged.
    package var origin: Coordinate
    /// Rooms farther away, in metres, are left out.
    package var radiusMeters: Double
    /// At most so many rooms are told.
    package var limit: Int

    package init(origin: Coordinate, radiusMeters: Double = usualRadius, limit: Int = usualLimit) {
        self.origin = origin
        self.radiusMeters = radiusMeters
        self.limit = limit
    }

    /// Reads `lat`, `lon`, `radiusMeters` and `limit` of a request's query: `texts` gives all that a name stands for.
    ///
    /// Numbers are written as in JSON (RFC 8259 §6), so that a request may say what a message may, and nothing else.
    package init(texts: (String) -> [String]) throws(MessageViolation) {
        try self.init { (name) throws(MessageViolation) in
            let texts = texts(name)
            guard texts.count < 2 else { throw MessageViolation(message: "\(name) must be given once") }
            return texts.first.map { JSONParser.number(in: $0.utf8.span) }
        }
    }

    /// Reads the members of a message.
    init(_ fields: JSONFields) throws(MessageViolation) {
        try self.init { name in fields[name].map { $0.number } }
    }

    /// `given` is nil where a field is absent, and holds nil where it is no number.
    private init(given: (String) throws(MessageViolation) -> Double??) throws(MessageViolation) {
        func number(_ name: String, in range: ClosedRange<Double>) throws(MessageViolation) -> Double? {
            guard let given = try given(name) else { return nil }
            // Comparing with what is not a number is false.
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
    /// The names and texts of a request's query, in order.
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
    /// The members of a message; what is usual is left out.
    mutating func members(of query: NearbyQuery) {
        self.member("lat", query.origin.latitude)
        self.member("lon", query.origin.longitude)
        if query.radiusMeters != NearbyQuery.usualRadius { self.member("radiusMeters", query.radiusMeters) }
        if query.limit != NearbyQuery.usualLimit { self.member("limit", query.limit) }
    }
}
