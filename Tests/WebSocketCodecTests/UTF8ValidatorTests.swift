import RandomTestSupport
import Testing
import WebSocketCodec

struct UTF8ValidatorTests {
    private static let valid: [[UInt8]] = [
        [], Array("κόσμε".utf8), Array("Hello-µ@ßöäüàá-UTF-8!!".utf8),
        // the first and last scalar of each length, and the neighbours of the surrogates
        [0x00], [0x7F], [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xEF, 0xBF, 0xBF],
        [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
        // noncharacters are valid
        [0xEF, 0xBF, 0xBE], [0xF0, 0x9F, 0xBF, 0xBE],
        Array(String(repeating: "a", count: 31).utf8) + Array("😀".utf8) + Array(String(repeating: "b", count: 9).utf8),
    ]

    /// Sequences that are invalid after their last byte, and not earlier.
    private static let invalid: [[UInt8]] = [
        // lone continuation bytes, impossible bytes
        [0x80], [0xBF], [0xFE], [0xFF], [0xF5], [0xF8], [0xFC],
        // lead bytes with too few continuations
        [0xC3, 0x20], [0xE2, 0x82, 0x20], [0xF0, 0x9F, 0x98, 0x20], [0xE2, 0xE2],
        // overlong forms
        [0xC0], [0xC1], [0xE0, 0x80], [0xE0, 0x9F], [0xF0, 0x80], [0xF0, 0x8F],
        // surrogates, and above U+10FFFF
        [0xED, 0xA0], [0xED, 0xBF], [0xF4, 0x90],
    ]

    /// Whether a text that begins with `start` becomes invalid at `next`.
    private func isRefused(_ next: [UInt8], after start: [UInt8]) -> Bool {
        var validator = UTF8Validator()
        return validator.consume(start.span) && !validator.consume(next.span)
    }

    private func isValid(_ pieces: [[UInt8]]) -> Bool {
        var validator = UTF8Validator()
        return pieces.allSatisfy { validator.consume($0.span) } && validator.isComplete
    }

    @Test(arguments: valid)
    func `valid text is taken however it is cut`(_ text: [UInt8]) {
        #expect(isValid([text]))
        #expect(isValid(text.singleBytes))
        for cut in text.cuts { #expect(isValid(cut)) }
    }

    @Test(arguments: invalid)
    func `invalid text is refused at the first byte that makes it so`(_ text: [UInt8]) {
        // alone, after text of every length that the fast path may skip, and before more
        for length in 0..<20 {
            let start = [UInt8](repeating: 0x61, count: length)
            #expect(isRefused(Array(text.suffix(1)), after: start + text.dropLast()))
            #expect(!isValid([start + text + [0x61, 0x61]]))
        }
    }

    @Test(arguments: [[0xC3], [0xE2], [0xE2, 0x82], [0xF0], [0xF0, 0x9F], [0xF0, 0x9F, 0x98]] as [[UInt8]])
    func `text that ends inside a scalar is incomplete but not refused`(_ text: [UInt8]) {
        var validator = UTF8Validator()
        let isTaken = validator.consume(text.span)
        #expect(isTaken)
        #expect(!validator.isComplete)
    }

    @Test func `every pair of bytes is judged as the standard library does`() {
        let pairs = (UInt8.min ... .max).flatMap { first in (UInt8.min ... .max).map { [first, $0] } }
        let judgedOtherwise = pairs.filter { isValid([$0]) != (String(validating: $0, as: UTF8.self) != nil) }
        #expect(judgedOtherwise == [])
    }

    @Test(arguments: TestSeed.several())
    func `damaged random text is judged as the standard library does`(_ seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var refused = 0
        for _ in 0..<2_000 {
            var bytes = Array(generator.text(longest: 40).utf8)
            if Bool.random(using: &generator), let place = bytes.indices.randomElement(using: &generator) {
                bytes[place] = UInt8.random(in: .min ... .max, using: &generator)
            }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            if !expected { refused += 1 }
            #expect(isValid([bytes]) == expected, "seed \(seed): \(bytes)")
            #expect(isValid(generator.pieces(of: bytes, longest: 9)) == expected, "seed \(seed): \(bytes)")
        }
        #expect(refused > 100)
    }
}
