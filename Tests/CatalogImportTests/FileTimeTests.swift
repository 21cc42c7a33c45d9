import Catalog
import Testing

@testable import CatalogImport

/// The days and times of promotions as files write them.
@Suite struct FileTimeTests {
    private func time(_ rfc3339: String) throws -> Timestamp { try #require(Timestamp(rfc3339: rfc3339)) }

    @Test(
        "A day has no time, and begins at midnight by the clock of the file",
        arguments: [
            ("2026-03-01", "2026-03-01T00:00:00Z"), ("1.3.2026", "2026-03-01T00:00:00Z"),
            ("01.03.2026", "2026-03-01T00:00:00Z"), ("31.12.2026", "2026-12-31T00:00:00Z"),
            ("9.10.2026", "2026-10-09T00:00:00Z"), ("2026-03-01 00:00", "2026-03-01T00:00:00Z"),
            ("2026-03-01T00:00:00", "2026-03-01T00:00:00Z"), ("1.3.2026 00:00:00", "2026-03-01T00:00:00Z"),
        ]
    )
    func days(_ text: String, _ expected: String) throws {
        let found = try #require(FileTime(text))
        #expect(try found.time == time(expected))
        #expect(found.isDay)
        #expect(found.isLocal)
    }

    @Test(
        "A time without an offset is that of the clock of the file",
        arguments: [
            ("2026-03-01 08:05", "2026-03-01T08:05:00Z"), ("2026-03-01T08:05:09", "2026-03-01T08:05:09Z"),
            ("2026-03-01t08:05", "2026-03-01T08:05:00Z"), ("1.3.2026 23:59:59", "2026-03-01T23:59:59Z"),
            ("2026-03-01 00:00:01", "2026-03-01T00:00:01Z"), ("2026-03-01 10:00 ", "2026-03-01T10:00:00Z"),
        ]
    )
    func localTimes(_ text: String, _ expected: String) throws {
        let found = try #require(FileTime(text))
        #expect(try found.time == time(expected))
        #expect(!found.isDay)
        #expect(found.isLocal)
    }

    @Test(
        "An offset has a sign, and hours with minutes or without",
        arguments: [
            ("2026-03-01T08:00Z", "2026-03-01T08:00:00Z"), ("2026-03-01T08:00z", "2026-03-01T08:00:00Z"),
            ("2026-03-01T08:00:30 Z", "2026-03-01T08:00:30Z"), ("2026-03-01T00:00Z", "2026-03-01T00:00:00Z"),
            ("2026-03-01T08:00+02:30", "2026-03-01T05:30:00Z"), ("2026-03-01T08:00+0230", "2026-03-01T05:30:00Z"),
            ("2026-03-01T08:00+02", "2026-03-01T06:00:00Z"), ("2026-03-01T08:00:15-0130", "2026-03-01T09:30:15Z"),
            ("2026-03-01T08:00-01", "2026-03-01T09:00:00Z"), ("2026-03-01 08:00 −05:45", "2026-03-01T13:45:00Z"),
            ("1.3.2026 00:00 +00:00", "2026-03-01T00:00:00Z"), ("2026-03-01T23:00-0200", "2026-03-02T01:00:00Z"),
        ]
    )
    func offsets(_ text: String, _ expected: String) throws {
        let found = try #require(FileTime(text))
        #expect(try found.time == time(expected))
        #expect(!found.isDay)
        #expect(!found.isLocal)
    }

    @Test(
        "Other text is rejected",
        arguments: [
            "", "soon", "2026", "2026-3-1", "2026-03-01x", "1.3.26", "1.3.20261", "001.3.2026", "1.003.2026",
            "a.3.2026",
            "1.b.2026", "1.3.20c6", "1.3", "1.2.3.2026", "32.1.2026", "0.1.2026", "2026-13-01", "2026-02-29",
            "2026-03-01 24:00", "2026-03-01 08:60", "2026-03-01 8:00", "2026-03-01 08", "2026-03-01T08:00:00:00",
            "2026-03-01T08:00+1", "2026-03-01T08:00+010", "2026-03-01T08:00+01000", "2026-03-01T08:00+01 : 00",
            "2026-03-01T08:00+", "2026-03-01T08:00+24:00", "2026-03-01T08:00+01:60", "2026-03-01T08:00ZZ",
        ]
    )
    func otherTexts(_ text: String) { #expect(FileTime(text) == nil) }
}
