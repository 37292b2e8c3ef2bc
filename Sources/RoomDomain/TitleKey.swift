import ByteText

/// The key by which a pool is sorted and texts are compared: a title in NFC, each scalar lower-cased by itself, compared
/// by scalar values.
///
/// Making a key is linear in the title's length, whatever characters it has.
package struct TitleKey: Comparable, Sendable {
    /// The key in UTF-8; its bytes sort as the scalars do.
    package let bytes: [UInt8]

    /// Makes a key of these bytes, which are used as they are.
    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    package init(_ title: String) {
        if title.utf8.allSatisfy({ $0 < 0x80 }) {
            // The title is already in NFC, and only A to Z have a different lower case.
            self.bytes = title.utf8.map(\.asciiLowercased)
        } else {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(title.utf8.count)
            if title.unicodeScalars.allSatisfy(Self.isAlwaysNormal) {
                for scalar in title.unicodeScalars { Self.append(scalar, to: &bytes) }
            } else {
                for scalar in title.composedScalars { Self.append(scalar, to: &bytes) }
            }
            self.bytes = bytes
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }

    /// Whether a text that has only such scalars is in NFC (UAX #15 §9): normalization changes none of them, and none
    /// combines with the one before it.
    private static func isAlwaysNormal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Latin; Cyrillic except combining marks; kana except combining marks; ideographs; Hangul syllables.
        case 0..<0x300, 0x400..<0x483, 0x48A..<0x530, 0x3041..<0x3097, 0x30A1..<0x30FB, 0x4E00..<0xA000,
            0xAC00..<0xD7A4:
            true
        default: false
        }
    }

    /// Appends a scalar's full lower case, without looking at its neighbours: İ becomes two scalars, Σ is never final.
    private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        if hasCase(scalar), scalar.properties.changesWhenLowercased {
            bytes.append(contentsOf: scalar.properties.lowercaseMapping.utf8)
        } else if scalar.value < 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: scalar.value))
        } else {
            bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
    }

    /// Whether a scalar may have a case: false for scripts and marks without one, so that they need no look-up.
    private static func hasCase(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        // Combining marks, Hebrew to Tibetan, kana and ideographs, Hangul syllables.
        case 0x300..<0x370, 0x590..<0x1000, 0x3000..<0xA000, 0xAC00..<0xD7A4: false
        default: true
        }
    }
}
