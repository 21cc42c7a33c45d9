internal import ArgumentParser
internal import Catalog

/// How a listing is printed.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case table, tsv, json, ndjson, csv

    /// What was asked for, or a table on a terminal and tab-separated values in a pipe.
    static func chosen(_ format: OutputFormat?) -> OutputFormat { format ?? (Console.outputIsTerminal ? .table : .tsv) }
}
