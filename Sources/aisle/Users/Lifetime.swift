internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP

/// A duration as a command line argument: `12h`.
struct Lifetime: ExpressibleByArgument {
    let seconds: Int64

    init(seconds: Int64) { self.seconds = seconds }

    init?(argument: String) {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = Int64(argument.dropLast()),
            (1...Int64(TokenVerifier.maximumLifetimeDays) * 86_400).contains(
                number.multipliedReportingOverflow(by: unit).partialValue
            ),
            !number.multipliedReportingOverflow(by: unit).overflow
        else { return nil }
        seconds = number * unit
    }

    var defaultValueDescription: String { "\(seconds / 3600)h" }
}
