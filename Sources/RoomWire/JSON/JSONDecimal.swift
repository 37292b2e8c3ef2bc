/// The digits of a number that is being read: (−1)^sign × significand × 10^exponent.
///
/// Trailing zeros are held back until another digit follows, so that `1.000` and `1e3` have few digits and are exact.
struct JSONDecimal {
    /// The limit at which exponents stop growing: far larger than any that changes the result, far from overflow.
    static let greatestExponent = 1_000_000_000

    var isNegative = false
    var exponent = 0
    private var significand: UInt64 = 0
    private var heldZeros = 0
    private var isTooLong = false

    /// Adds a digit before the point.
    @inline(__always)
    mutating func append(_ digit: UInt8) {
        guard digit != 0 else {
            if self.significand != 0 { self.heldZeros += 1 }
            return
        }
        while self.heldZeros > 0, !self.isTooLong {
            self.heldZeros -= 1
            self.shift(in: 0)
        }
        self.shift(in: digit)
    }

    /// Adds a digit after the point.
    @inline(__always)
    mutating func append(fraction digit: UInt8) {
        self.append(digit)
        self.exponent -= 1
    }

    private mutating func shift(in digit: UInt8) {
        // 19 digits: the most that never overflow a UInt64
        if self.significand < 1_000_000_000_000_000_000, !self.isTooLong {
            self.significand = self.significand * 10 + UInt64(digit)
        } else {
            self.isTooLong = true
        }
    }

    /// The value if it is exact without rounding twice: an integer that fits, or few digits and a small exponent.
    var exactValue: JSONValue? {
        guard !self.isTooLong else { return nil }
        guard self.significand != 0 else { return self.isNegative ? .number(-0.0) : .integer(0) }
        let exponent = self.exponent + self.heldZeros
        if exponent >= 0, let integer = self.integer(exponent) { return .integer(integer) }
        // W. D. Clinger, "How to Read Floating Point Numbers Accurately" (1990): both operands are exact,
        // so one operation rounds correctly.
        guard self.significand <= 1 << 53, exponent >= -22, exponent <= 22 else { return nil }
        var power = 1.0
        for _ in 0..<exponent.magnitude { power *= 10 }
        let magnitude = exponent < 0 ? Double(self.significand) / power : Double(self.significand) * power
        return .number(self.isNegative ? -magnitude : magnitude)
    }

    private func integer(_ exponent: Int) -> Int64? {
        guard exponent <= 18 else { return nil }
        var magnitude = self.significand
        for _ in 0..<exponent {
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: 10)
            guard !overflow else { return nil }
            magnitude = product
        }
        guard self.isNegative else { return Int64(exactly: magnitude) }
        return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }
}
