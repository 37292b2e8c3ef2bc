import GeoSearch
import RoomWire
import Testing

/// What may be asked of a nearby search, in a request's query and in a message alike.
@Suite struct NearbyQueryTests {
    /// What both must be told.
    private func violation(_ fields: [String: String]) -> String? {
        do throws(MessageViolation) {
            _ = try NearbyQuery { fields[$0] }
            return nil
        } catch {
            return error.message
        }
    }

    private func violation(json: String) -> MessageViolation? {
        do throws(MessageViolation) {
            _ = try ClientMessage.parse(Array(#"{"type":"nearby","id":1,\#(json)}"#.utf8))
            return nil
        } catch {
            return error
        }
    }

    private static let expected = [
        "lat": "lat must be a number from -90 to 90", "lon": "lon must be a number from -180 to 180",
        "radiusMeters": "radiusMeters must be a number from 1 to 20037508",
        "limit": "limit must be an integer from 1 to 200",
    ]

    private static let wrong: [(String, [String])] = [
        ("lat", ["90.000001", "-91", "1e5", "-90.1"]),
        ("lon", ["180.5", "-180.00001", "360"]),
        ("radiusMeters", ["0", "0.99", "-1", "20037508.1", "2e7000"]),
        ("limit", ["0", "201", "-1", "1.5", "99999999999999999999"]),
    ]

    @Test func `what is wrong is named`() {
        let good = ["lat": "52.5", "lon": "13.4", "radiusMeters": "1000", "limit": "20"]
        for (name, texts) in Self.wrong {
            let strange = [
                "nan", "NaN", "-nan", "inf", "-inf", "infinity", "1e999", "-1e999", "", " ", " 1", "1 ", "one", "0x1p3",
                "0x10", "1_000", "1,5", "--1", "1e", "e5", "١",
            ]
            for text in texts + strange {
                var fields = good
                fields[name] = text
                #expect(violation(fields) == Self.expected[name], "\(name)=\(text)")
            }
        }
        #expect(violation(good) == nil)
        #expect(violation(["lat": "1"]) == Self.expected["lon"])
        #expect(violation(["lon": "1"]) == Self.expected["lat"])
    }

    @Test func `a message is told the same`() {
        let good = ["lat": "52.5", "lon": "13.4", "radiusMeters": "1000", "limit": "20"]
        for (name, texts) in Self.wrong {
            for text in texts.filter({ !$0.hasSuffix("e7000") }) + [#""1""#, "true", "[]", "{}", #""nan""#] {
                var fields = good
                fields[name] = text
                let json = fields.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
                #expect(
                    violation(json: json) == MessageViolation(re: 1, message: Self.expected[name] ?? ""),
                    "\(name): \(text)")
            }
        }
        #expect(violation(json: #""lat":1"#)?.message == Self.expected["lon"])
        #expect(violation(json: #""lat":null,"lon":1"#)?.message == Self.expected["lat"])
        // No JSON has such a number.
        #expect(violation(json: #""lat":1e999,"lon":1"#)?.code == .badRequest)
        #expect(violation(json: #""lat":NaN,"lon":1"#)?.code == .badRequest)
    }

    @Test func `the bounds are let, and what is left out is as usual`() throws {
        let least = try NearbyQuery { ["lat": "-90", "lon": "-180", "radiusMeters": "1", "limit": "1"][$0] }
        #expect(least.origin == Coordinate(latitude: -90, longitude: 0))
        #expect((least.radiusMeters, least.limit) == (1, 1))
        let most = try NearbyQuery { ["lat": "9.0e1", "lon": "180", "radiusMeters": "20037508", "limit": "200"][$0] }
        #expect((most.radiusMeters, most.limit) == (20_037_508, 200))
        let usual = try NearbyQuery { ["lat": "-0", "lon": "1.25"][$0] }
        #expect((usual.radiusMeters, usual.limit) == (5_000, 50))
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
