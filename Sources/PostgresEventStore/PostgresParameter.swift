import ByteText
package import FoundationEssentials

/// A value that can be bound to a statement, in PostgreSQL's binary format.
protocol PostgresParameter {
    /// The object id of its type (`pg_type.dat`).
    static var type: UInt32 { get }
    /// The object id of arrays of its type.
    static var arrayType: UInt32 { get }
    /// Appends the value's bytes and returns true; returns false if the value is null.
    func encode(into bytes: inout [UInt8]) -> Bool
}

extension UUID: PostgresParameter {
    static var type: UInt32 { 2950 }
    static var arrayType: UInt32 { 2951 }

    func encode(into bytes: inout [UInt8]) -> Bool {
        let (high, low) = halves
        bytes.append(bigEndian: high)
        bytes.append(bigEndian: low)
        return true
    }
}

extension Int: PostgresParameter {
    static var type: UInt32 { Int64.type }
    static var arrayType: UInt32 { Int64.arrayType }

    func encode(into bytes: inout [UInt8]) -> Bool {
        Int64(self).encode(into: &bytes)
    }
}

extension Int64: PostgresParameter {
    static var type: UInt32 { 20 }
    static var arrayType: UInt32 { 1016 }

    func encode(into bytes: inout [UInt8]) -> Bool {
        bytes.append(bigEndian: UInt64(bitPattern: self))
        return true
    }
}

extension Double: PostgresParameter {
    static var type: UInt32 { 701 }
    static var arrayType: UInt32 { 1022 }

    func encode(into bytes: inout [UInt8]) -> Bool {
        bytes.append(bigEndian: bitPattern)
        return true
    }
}

extension Bool: PostgresParameter {
    static var type: UInt32 { 16 }
    static var arrayType: UInt32 { 1000 }

    func encode(into bytes: inout [UInt8]) -> Bool {
        bytes.append(self ? 1 : 0)
        return true
    }
}

extension String: PostgresParameter {
    static var type: UInt32 { 25 }
    static var arrayType: UInt32 { 1009 }

    func encode(into bytes: inout [UInt8]) -> Bool {
        bytes.append(contentsOf: utf8)
        return true
    }
}

/// Bytes that the database stores unchanged: `bytea`.
struct Binary: PostgresParameter {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static var type: UInt32 { 17 }
    static var arrayType: UInt32 { 1001 }

    func encode(into bytes: inout [UInt8]) -> Bool {
        bytes.append(contentsOf: self.bytes)
        return true
    }
}

/// JSON text that the database parses: `jsonb`.
struct JSONText: PostgresParameter {
    let text: [UInt8]

    init(_ text: [UInt8]) {
        self.text = text
    }

    /// The version of the binary format, which precedes the text (`jsonb_recv`).
    static let version: UInt8 = 1

    static var type: UInt32 { 3802 }
    static var arrayType: UInt32 { 3807 }

    func encode(into bytes: inout [UInt8]) -> Bool {
        bytes.append(Self.version)
        bytes.append(contentsOf: text)
        return true
    }
}

extension Optional: PostgresParameter where Wrapped: PostgresParameter {
    static var type: UInt32 { Wrapped.type }
    static var arrayType: UInt32 { Wrapped.arrayType }

    func encode(into bytes: inout [UInt8]) -> Bool {
        switch self {
        case .some(let value): value.encode(into: &bytes)
        case .none: false
        }
    }
}

extension Array: PostgresParameter where Element: PostgresParameter {
    static var type: UInt32 { Element.arrayType }
    /// PostgreSQL has no type for arrays of arrays: more dimensions are the same type.
    static var arrayType: UInt32 { Element.arrayType }

    /// Writes the layout of `array_recv`: dimensions, whether there are nulls, the elements' type; each dimension's
    /// length and lower bound; each element's length, -1 for null, and bytes.
    func encode(into bytes: inout [UInt8]) -> Bool {
        bytes.append(bigEndian: UInt32(isEmpty ? 0 : 1))
        bytes.append(bigEndian: UInt32(1))
        bytes.append(bigEndian: Element.type)
        guard !isEmpty else { return true }
        bytes.append(bigEndian: UInt32(count))
        bytes.append(bigEndian: UInt32(1))
        for element in self {
            let start = bytes.count
            bytes.append(bigEndian: UInt32.max)
            guard element.encode(into: &bytes) else { continue }
            let length = UInt32(bytes.count - start - 4)
            bytes[start] = UInt8(truncatingIfNeeded: length >> 24)
            bytes[start + 1] = UInt8(truncatingIfNeeded: length >> 16)
            bytes[start + 2] = UInt8(truncatingIfNeeded: length >> 8)
            bytes[start + 3] = UInt8(truncatingIfNeeded: length)
        }
        return true
    }
}

extension [UInt8] {
    /// Appends a number, most significant byte first.
    fileprivate mutating func append(bigEndian number: some FixedWidthInteger) {
        // The number's own bytes are read during the call only.
        unsafe Swift.withUnsafeBytes(of: number.bigEndian) { unsafe append(contentsOf: $0) }
    }
}

/// The values bound to one execution of a statement, encoded.
struct Parameters: Sendable {
    /// One value.
    struct Value: Sendable {
        /// Its type's object id.
        var type: UInt32
        /// The range of its bytes; nil for null.
        var range: Range<Int>?
    }

    /// The bytes of all values, after one unused byte: the buffer then always has an address, which distinguishes an
    /// empty value from null.
    private(set) var bytes: [UInt8] = [0]
    /// The values, in order.
    private(set) var values: [Value] = []

    /// Encodes the values of `$1`, `$2`, ….
    init<each P: PostgresParameter>(_ parameter: repeat each P) {
        for parameter in repeat each parameter {
            add(parameter)
        }
    }

    /// Encodes the next value.
    mutating func add<P: PostgresParameter>(_ parameter: P) {
        let start = bytes.count
        let isPresent = parameter.encode(into: &bytes)
        values.append(Value(type: P.type, range: isPresent ? start..<bytes.count : nil))
    }
}
