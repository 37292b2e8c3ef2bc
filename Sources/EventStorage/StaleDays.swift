/// Which days' numbers across streams are computed again.
package enum StaleDays {
    /// The days before the present one that are looked at: a week, and one that a clock may be off.
    package static let lookedAt = 8
    /// The time after a day's end in which its last plays may be written, in milliseconds.
    package static let grace = 300_000
}
