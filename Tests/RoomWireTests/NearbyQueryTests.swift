import GeoSearch
import RoomWire
import Testing

/// The allowed parameters of a nearby search, in a request's query and in a message alike.
@Suite struct NearbyQueryTests {
    private static let expected = [
        "lat": "lat must be a number from -90 to 90", "lon": "lon must be a number from -180 to 180",
        "radiusMeters": "radiusMeters must be a number from 1 to 20037508",
        "limit": "limit must be an integer from 1 to 200",
    ]
    private static let good = ["lat": "52.5", "lon": "13.4", "radiusMeters": "1000", "limit": "20"]

    private typealias Outcome = Result<NearbyQuery, MessageViolation>

    /// The result of a request's query that gives each field once.
    private func request(_ fields: [String: String]) -> Outcome {
        request { fields[$0].map { [$0] } ?? [] }
    }

    private func request(texts: (String) -> [String]) -> Outcome {
        Outcome { () throws(MessageViolation) in try NearbyQuery(texts: texts) }
    }

    /// The result of a message with the same fields, written in the same way.
    private func message(_ fields: [String: String]) -> Outcome {
        let json = fields.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
        return Outcome { () throws(MessageViolation) in
            let text = Array(#"{"type":"nearby","id":1,\#(json)}"#.utf8)
            guard case .nearby(1, let query) = try ClientMessage.parse(text) else {
                throw MessageViolation(message: "read as another message")
            }
            return query
        }
    }

    /// The refusal that names a field.
    private func refusal(of name: String, re: Int64? = nil) -> Outcome {
        .failure(MessageViolation(re: re, message: Self.expected[name] ?? ""))
    }

    private static let numbers: [(String, Double)] = [
        ("0", 0), ("-0", 0), ("-0.0", 0), ("7", 7), ("1.5", 1.5), ("1e1", 10), ("1E+1", 10), ("1e-1", 0.1),
        ("10e-1", 1), ("0.10", 0.1), ("1e-999", 0), ("1.\(String(repeating: "0", count: 5_000))", 1),
        ("0.\(String(repeating: "0", count: 30))1e31", 1), ("1.\(String(repeating: "3", count: 99))", 4.0 / 3),
    ]
    private static let notNumbers = [
        "", " ", " 5", "5 ", "\t5", "+5", "+0", ".5", "-.5", "5.", "5.e1", "007", "-01", "00", "1e", "1e+", "e5", "--1",
        "-", "1-", "1.2.3", "1,5", "1_000", "0x10", "0x1p3", "1f", "nan", "NaN", "-nan", "inf", "-inf", "infinity",
        "Infinity", "one", "\u{661}", "\u{FF11}", "1\0", "%31", "true", #""1""#, #""nan""#, "[]", "[1]", "{}",
        #"{"lat":1}"#, "1e1000", "-1e1000", "2e7000", "1e99999999999999999999",
    ]

    @Test(arguments: numbers.map { ($0, Optional($1)) } + notNumbers.map { ($0, nil) })
    func `a request takes the numbers that a message takes`(text: String, value: Double?) {
        for name in Self.expected.keys {
            var fields = Self.good
            fields[name] = text
            let isGood =
                switch name {
                case "radiusMeters": value.map { $0 >= 1 } ?? false
                case "limit": value.map { $0 >= 1 && $0 == $0.rounded() } ?? false
                default: value != nil
                }
            let (asked, told) = (request(fields), message(fields))
            guard isGood, case .success(let query) = asked else {
                #expect(asked == refusal(of: name), "\(name)=\(text)")
                // White space is allowed around any value of a message.
                let bare = text.filter { !$0.isWhitespace }
                guard bare == text || bare.isEmpty else { continue }
                // A text that is not JSON has no fields to name.
                guard case .failure(let violation) = told, violation.code == .badRequest else {
                    Issue.record("a message may have \(name): \(text)")
                    continue
                }
                continue
            }
            #expect(told == asked, "\(name)=\(text)")
            let read = [
                "lat": query.origin.latitude, "lon": query.origin.longitude, "radiusMeters": query.radiusMeters,
                "limit": Double(query.limit),
            ]
            #expect(read[name] == value, "\(name)=\(text)")
        }
    }

    @Test func `a field out of range or of the wrong type is named, in a request and in a message`() {
        for (name, texts) in [
            ("lat", ["90.000001", "-91", "1e5", "-90.1"]),
            ("lon", ["180.5", "-180.00001", "360"]),
            ("radiusMeters", ["0", "-0", "0.99", "-1", "20037508.1", "1e300"]),
            ("limit", ["0", "201", "-1", "1.5", "99999999999999999999", "1e300"]),
        ] {
            for text in texts + [#""1""#, "true", "[]", "{}", "[1]", #"{"lat":1}"#, #""nan""#] {
                var fields = Self.good
                fields[name] = text
                #expect(request(fields) == refusal(of: name), "\(name)=\(text)")
                #expect(message(fields) == refusal(of: name, re: 1), "\(name): \(text)")
            }
        }
    }

    @Test func `a missing field is named or has its default, and null counts as missing only in a message`() throws {
        for name in Self.expected.keys {
            var (absent, null) = (Self.good, Self.good)
            absent[name] = nil
            null[name] = "null"
            #expect(request(null) == refusal(of: name))
            #expect(message(null) == message(absent))
            if ["lat", "lon"].contains(name) {
                #expect(request(absent) == refusal(of: name))
                #expect(message(absent) == refusal(of: name, re: 1))
            } else {
                #expect(message(absent) == request(absent))
            }
        }
        let usual = try request(["lat": "-0", "lon": "1.25"]).get()
        #expect((usual.radiusMeters, usual.limit) == (5_000, 50))
    }

    @Test func `a field given twice is named, even if both values are the same`() {
        for name in Self.expected.keys {
            let asked = request { field in Array(repeating: Self.good[field] ?? "", count: field == name ? 2 : 1) }
            #expect(asked == .failure(MessageViolation(message: "\(name) must be given once")))
        }
    }

    @Test func `values at the bounds are accepted`() throws {
        let least = try request(["lat": "-90", "lon": "-180", "radiusMeters": "1", "limit": "1"]).get()
        #expect(least.origin == Coordinate(latitude: -90, longitude: 0))
        #expect((least.radiusMeters, least.limit) == (1, 1))
        let most = try request(["lat": "9.0e1", "lon": "180", "radiusMeters": "20037508", "limit": "200"]).get()
        #expect((most.radiusMeters, most.limit) == (20_037_508, 200))
    }

    @Test func `a subscription needs a number, and ends by it`() throws {
        func violation(_ text: String) -> MessageViolation? {
            do throws(MessageViolation) {
                _ = try ClientMessage.parse(Array(text.utf8))
                return nil
            } catch {
                return error
            }
        }
        #expect(violation(#"{"type":"nearby","lat":1,"lon":1}"#) == MessageViolation(message: "id must be an integer"))
        #expect(
            violation(#"{"type":"nearbyStop","id":3}"#) == MessageViolation(re: 3, message: "sub must be an integer"))
        #expect(violation(#"{"type":"nearbyStop","sub":3}"#) == nil)
    }
}
