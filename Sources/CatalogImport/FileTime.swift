internal import Catalog

/// A day or a time in a file.
///
/// Understood are `2026-03-01`, `1.3.2026`, and a day with a time: `2026-03-01 08:00`, with seconds or without, with an offset
/// from UTC such as `Z`, `+01:00` and `+0100`, or without. Midnight without an offset is a day, as spreadsheets write it.
struct FileTime: Equatable {
    /// The time; of a day, its first moment. Without an offset it is that of the clock, as if that showed UTC.
    let time: Timestamp
    let isDay: Bool
    /// Whether the text states no offset from UTC.
    let isLocal: Bool

    /// - Returns: nil for another text.
    init?(_ text: String) {
        let mark = text.firstIndex { $0 == "T" || $0 == "t" || $0 == " " }
        guard let day = Self.day(text[..<(mark ?? text.endIndex)]) else { return nil }
        var isDay = mark == nil
        var clock = mark.map { text[text.index(after: $0)...] } ?? "00:00:00"
        var offset = "Z"
        if let last = clock.last, last == "Z" || last == "z" {
            clock = clock.dropLast()
            isLocal = false
        } else if let sign = clock.firstIndex(where: { $0 == "+" || $0 == "-" || $0 == "−" }) {
            let digits = clock[sign...].filter { $0.isASCII && $0.isNumber }
            guard digits.count == 4 || digits.count == 2, clock[sign...].count <= digits.count + 2 else { return nil }
            offset =
                (clock[sign] == "+" ? "+" : "-") + digits.prefix(2) + ":"
                + (digits.count == 4 ? digits.suffix(2) : "00")
            clock = clock[..<sign]
            isLocal = false
        } else {
            isLocal = true
        }
        while clock.last == " " { clock = clock.dropLast() }
        let hasSeconds = clock.split(separator: ":", omittingEmptySubsequences: false).count == 3
        if isLocal, clock.allSatisfy({ $0 == "0" || $0 == ":" }) { isDay = true }
        guard let time = Timestamp(rfc3339: "\(day)T\(clock)\(hasSeconds ? "" : ":00")\(offset)") else { return nil }
        self.time = time
        self.isDay = isDay
    }

    /// Returns a day as `2026-03-01`; nil for another text.
    private static func day(_ text: Substring) -> String? {
        let parts = text.split(separator: ".")
        guard parts.count == 3 else { return text.utf8.count == 10 ? String(text) : nil }
        guard parts[2].utf8.count == 4, parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            parts[..<2].allSatisfy({ $0.utf8.count <= 2 })
        else { return nil }
        let padded = parts[..<2].map { $0.utf8.count == 1 ? "0\($0)" : String($0) }
        return "\(parts[2])-\(padded[1])-\(padded[0])"
    }
}
