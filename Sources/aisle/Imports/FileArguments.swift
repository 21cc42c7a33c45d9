internal import ArgumentParser
internal import Catalog

/// How an input file is written, and where its rejected rows go.
struct FileArguments: ParsableArguments {
    @Option(help: "The format; defaults to the file extension.") var format: ImportOptions.Format?
    @Option(help: "The encoding; by default, it is found in the file.") var encoding: TextEncoding?
    @Option(
        parsing: .unconditional,
        help: "The separator of a CSV file: comma, semicolon, tab or pipe; by default, it is found in the header."
    )
    var separator: FieldSeparator?
    @Option(help: "The mark before the decimals of prices; by default, it is found in the columns.")
    var decimal: DecimalMark?
    @Option(parsing: .unconditional, help: "The line of the header; by default, the first one with the columns.")
    var headerLine: Int?
    @Option(help: "Write the rejected rows to a file that can be corrected and imported again.") var rejects: String?
    @Option(help: "Write the result to a file as JSON.") var report: String?
    @Option(parsing: .unconditional, help: "The maximum percentage of rejected rows; with more, nothing is imported.")
    var maxRejects = "5"

    func dialect() throws -> FileDialect {
        var dialect = FileDialect()
        try read(into: &dialect)
        return dialect
    }

    /// Adds what the options say of the form of the file.
    func read(into dialect: inout FileDialect) throws {
        if let headerLine, !FileDialect.headerLineRange.contains(headerLine) {
            let range = FileDialect.headerLineRange
            throw CommandFailure(
                "--header-line must be between \(range.lowerBound) and \(range.upperBound) (got \(headerLine))",
                CommandFailure.usage
            )
        }
        dialect.encoding = encoding ?? dialect.encoding
        dialect.separator = separator ?? dialect.separator
        dialect.decimalMark = decimal ?? dialect.decimalMark
        dialect.headerLine = headerLine ?? dialect.headerLine
    }

    func rejectedPercentLimit() throws -> ExactDecimal {
        guard let percent = ImportOptions.percent(maxRejects) else {
            throw CommandFailure(
                "--max-rejects must be a percentage between 0 and 100 (got “\(maxRejects)”)",
                CommandFailure.usage
            )
        }
        return percent
    }

    /// Writes a report, if requested.
    func write(report json: [UInt8], input: String) throws {
        guard let report else { return }
        let file = try OutputFile(report, option: "--report", input: input)
        try file.write(String(decoding: json, as: UTF8.self) + "\n")
        try file.finish()
    }
}

extension TextEncoding: ExpressibleByArgument {}
extension DecimalMark: ExpressibleByArgument {}
extension FieldSeparator: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
