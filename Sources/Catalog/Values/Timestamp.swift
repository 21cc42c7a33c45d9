#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A point in time in microseconds since 1970-01-01T00:00:00Z, PostgreSQL's precision.
package struct Timestamp: Hashable, Sendable, Comparable {
    package let microseconds: Int64

    package init(microseconds: Int64) { self.microseconds = microseconds }

    package static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

    /// Returns the current time of the system clock.
    package static func now() -> Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// Returns the time that is so many seconds later, or earlier if the number is negative.
    package func adding(seconds: Int64) -> Timestamp { Timestamp(microseconds: microseconds + seconds * 1_000_000) }

    /// Returns the time that is so many days of 24 hours later, or earlier if the number is negative.
    package func adding(days: Int) -> Timestamp { adding(seconds: Int64(days) * 86_400) }

    /// The UTC day, in days since 1970-01-01.
    package var day: Int { Int((Double(microseconds) / 86_400_000_000).rounded(.down)) }

    /// The time as RFC 3339 in UTC, with up to six decimals and no trailing zeros: `2026-03-01T09:30:00.25Z`.
    package var rfc3339: String {
        // At most 27 bytes, written in place: a page contains two timestamps per product.
        String(unsafeUninitializedCapacity: 32) { buffer in
            var length = 0
            func digits(_ value: Int64, _ width: Int) {
                var rest = value
                for index in stride(from: length + width - 1, through: length, by: -1) {
                    buffer[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                length += width
            }
            func mark(_ byte: Unicode.Scalar) {
                buffer[length] = UInt8(ascii: byte)
                length += 1
            }
            let (days, rest) = floorDivide(microseconds, by: 86_400_000_000)
            let (year, month, day) = Self.civil(days)
            let seconds = rest / 1_000_000
            digits(min(max(year, 0), 9999), 4)
            mark("-")
            digits(month, 2)
            mark("-")
            digits(day, 2)
            mark("T")
            digits(seconds / 3600, 2)
            mark(":")
            digits(seconds / 60 % 60, 2)
            mark(":")
            digits(seconds % 60, 2)
            var fraction = rest % 1_000_000
            if fraction > 0 {
                var width = 6
                while fraction % 10 == 0 {
                    fraction /= 10
                    width -= 1
                }
                mark(".")
                digits(fraction, width)
            }
            mark("Z")
            return length
        }
    }

    /// Returns the date of a day since 1970-01-01, as `2026-03-01`.
    package static func date(ofDay day: Int) -> String {
        let (year, month, day) = civil(Int64(day))
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    private func floorDivide(_ value: Int64, by divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }

    /// Returns the year, month and day of a day since 1970-01-01.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
    private static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let z = days + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let doe = z - era * 146_097
        let yoe = (doe - doe / 1460 + doe / 36524 - doe / 146_096) / 365
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100)
        let mp = (5 * doy + 2) / 153
        let month = mp < 10 ? mp + 3 : mp - 9
        return (yoe + era * 400 + (month <= 2 ? 1 : 0), month, doy - (153 * mp + 2) / 5 + 1)
    }
}
