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
