internal import ArgumentParser
internal import Catalog

// Values of the domain as command line arguments.

extension AuditAction: ExpressibleByArgument {}

extension CatalogKey: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension Scope: ExpressibleByArgument {}

extension SettingKey: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

extension UserID: ExpressibleByArgument {
    package init?(argument: String) { self.init(argument) }
}

/// A time as an argument: `2026-03-01T08:00:00Z`, or an age such as `24h`, `30m` or `7d`.
struct Moment: ExpressibleByArgument {
    let time: Timestamp

    init?(argument: String) { self.init(argument, now: .now()) }

    init?(_ text: String, now: Timestamp) {
        if let time = Timestamp(rfc3339: text) {
            self.time = time
            return
        }
        let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (0..<1_000_000).contains(count)
        else { return nil }
        time = now.adding(seconds: -count * unit)
    }
}
