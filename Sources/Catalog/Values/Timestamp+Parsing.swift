extension Timestamp {
    /// Parses an RFC 3339 time with any offset; digits beyond microseconds are truncated.
    ///
    /// nil for anything else, including an invalid day of a month or a leap second.
    package init?(rfc3339 text: String) {
        var rest = Array(text.utf8)[...]
        func number(_ digits: Int, _ range: ClosedRange<Int64>) -> Int64? {
            guard rest.count >= digits else { return nil }
            var value: Int64 = 0
            for byte in rest.prefix(digits) {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 48)
            }
            rest = rest.dropFirst(digits)
            return range.contains(value) ? value : nil
        }
        func take(_ marks: String) -> UInt8? {
            guard let byte = rest.first, marks.utf8.contains(byte) else { return nil }
            return rest.popFirst()
        }
        guard let year = number(4, 1...9999), take("-") != nil, let month = number(2, 1...12), take("-") != nil,
            let day = number(2, 1...31), day <= Self.days(inMonth: month, of: year), take("Tt ") != nil,
            let hour = number(2, 0...23), take(":") != nil, let minute = number(2, 0...59), take(":") != nil,
            let second = number(2, 0...59)
        else { return nil }
        var fraction: Int64 = 0
        if take(".") != nil {
            let digits = rest.prefix { (48...57).contains($0) }
            guard !digits.isEmpty else { return nil }
            rest = rest.dropFirst(digits.count)
            for place in 0..<6 {
                let index = digits.startIndex + place
                fraction = fraction * 10 + (index < digits.endIndex ? Int64(digits[index] - 48) : 0)
            }
        }
        var offset: Int64 = 0
        guard let mark = take("Zz+-") else { return nil }
        if mark == UInt8(ascii: "+") || mark == UInt8(ascii: "-") {
            guard let hours = number(2, 0...23), take(":") != nil, let minutes = number(2, 0...59) else { return nil }
            offset = (hours * 60 + minutes) * (mark == UInt8(ascii: "-") ? -60 : 60)
        }
        guard rest.isEmpty else { return nil }
        let seconds = Self.day(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
        self.init(microseconds: seconds * 1_000_000 + fraction)
    }

    private static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of days from 1970-01-01 to a date.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`.
    private static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = y / 400
        let yoe = y - era * 400
        let doy = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy
        return era * 146_097 + doe - 719_468
    }
}
