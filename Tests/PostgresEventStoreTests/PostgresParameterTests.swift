import FoundationEssentials
import Testing

@testable import PostgresEventStore

struct PostgresParameterTests {
    private func encode(_ parameter: some PostgresParameter) -> [UInt8]? {
        var bytes: [UInt8] = []
        return parameter.encode(into: &bytes) ? bytes : nil
    }

    @Test func `numbers are written most significant byte first`() {
        #expect(encode(258) == [0, 0, 0, 0, 0, 0, 1, 2])
        #expect(encode(Int64(-1)) == [UInt8](repeating: 255, count: 8))
        #expect(encode(1.0) == [0x3F, 0xF0, 0, 0, 0, 0, 0, 0])
    }

    @Test func `an array is its header and its elements`() {
        #expect(
            encode(["é", nil, ""]) == [
                0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 25, 0, 0, 0, 3, 0, 0, 0, 1,
                0, 0, 0, 2, 0xC3, 0xA9, 255, 255, 255, 255, 0, 0, 0, 0,
            ])
    }

    @Test func `an empty array has no dimensions`() {
        #expect(encode([Bool]()) == [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 16])
    }

    @Test func `null and empty values are told apart`() {
        let parameters = Parameters("", String?.none, Binary([]))
        #expect(parameters.values.map(\.range) == [1..<1, nil, 1..<1])
        #expect(parameters.values.map(\.type) == [25, 25, 17])
    }
}
