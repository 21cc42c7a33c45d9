internal import ArgumentParser
internal import Catalog

/// The output format of a listing.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, tsv, json, ndjson, csv

    /// Returns the given format; defaults to a table on a terminal and to tab-separated values in a pipe.
    static func resolve(_ format: OutputFormat?) -> OutputFormat {
        format ?? (Console.outputIsTerminal ? .table : .tsv)
    }
}

/// The output format of a report that is not a table.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}

/// A format of log lines.
enum LogFormat: String, CaseIterable {
    /// One JSON object per line.
    case json
    /// Text for people.
    case text
}
