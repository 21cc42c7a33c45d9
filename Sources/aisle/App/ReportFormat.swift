internal import ArgumentParser

/// The output format of a report that is not a table.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}
