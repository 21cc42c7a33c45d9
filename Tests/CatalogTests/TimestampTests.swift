import Catalog
import Foundation
import Testing

@Suite(.timeLimit(.minutes(15))) struct TimestampTests {
    @Test("A timestamp survives writing and parsing")
    func timestampRoundTrips() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let time = Timestamp(
                microseconds: .random(in: -60_000_000_000_000_000..<250_000_000_000_000_000, using: &generator)
            )
            #expect(Timestamp(rfc3339: time.rfc3339) == time, "\(time.rfc3339)")
        }
    }

    @Test(
        "RFC 3339 times are parsed",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("1970-01-01T01:00:00+01:00", 0), ("1969-12-31T23:30:00-00:30", 0),
            ("2026-03-01t09:30:00.25z", 1_772_357_400_250_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000_000),
            ("1970-01-01 00:00:00.0000019Z", 1), ("2000-02-29T23:59:59.999999Z", 951_868_799_999_999),
        ]
    )
    func parsesRFC3339(text: String, microseconds: Int) {
        #expect(Timestamp(rfc3339: text)?.microseconds == Int64(microseconds))
    }

    @Test(
        "A text that is not a time is rejected",
        arguments: [
            "", "2026", "2026-03-01", "2026-03-01T09:30:00", "2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+24:00",
            "2026-01-01T00:00:00Zx", "2026-1-1T00:00:00Z", "0000-01-01T00:00:00Z", "２026-01-01T00:00:00Z",
            "2026-01-01T00:00:00+0100",
        ]
    )
    func rejectsInvalidTimes(text: String) { #expect(Timestamp(rfc3339: text) == nil) }

    @Test("Foundation's parser agrees")
    func agreesWithFoundation() throws {
        let formatter = ISO8601DateFormatter()
        for day in stride(from: -100_000, to: 100_000, by: 37) {
            let date = Date(timeIntervalSince1970: Double(day) * 86_400 + 4711)
            let text = formatter.string(from: date)
            #expect(Timestamp(rfc3339: text)?.microseconds == Int64(day) * 86_400_000_000 + 4_711_000_000, "\(text)")
        }
    }
}
