internal import Catalog
internal import CatalogImport
internal import CatalogJSON

/// Rejected rows: the first ones are printed, all are counted and, if requested, written to a file.
final class Rejections {
    private(set) var count = 0
    /// The first ones, for the report.
    private(set) var first: [ImportRejection] = []
    private let file: OutputFile?
    private let format: ImportOptions.Format
    private let dialect: FileDialect
    private let hasVariants: Bool
    private var hasHeader = false
    private var hasEnded = false

    /// The number of printed rejections.
    private static let printLimit = 20

    /// - Parameters:
    ///   - path: the file for rejected rows; nil for none.
    ///   - input: the input file.
    ///   - dialect: what the options say of the input file, which the file of rejected rows follows.
    ///   - hasVariants: whether rows may be those of variants.
    init(
        file path: String?,
        input: String,
        _ format: ImportOptions.Format,
        _ dialect: FileDialect,
        hasVariants: Bool = false
    ) throws {
        file = try path.map { try OutputFile($0, option: "--rejects", input: input) }
        self.format = format
        self.dialect = dialect
        self.hasVariants = hasVariants
    }

    /// Adds a row; after the end, rows that are read a second time have no effect.
    func add(_ rejection: ImportRejection) throws {
        guard !hasEnded else { return }
        count += 1
        if first.count < ImportReport.rejectionLimit { first.append(rejection) }
        if count <= Self.printLimit { Console.note("rejected: \(rejection.description)") }
        guard let file else { return }
        let separator = rejection.separator ?? dialect.separator ?? .comma
        if !hasHeader {
            hasHeader = true
            // The file is UTF-8 although the options may say otherwise; its mark takes precedence.
            if dialect.encoding ?? .utf8 != .utf8 { try file.write("\u{FEFF}") }
            if format == .xml { try file.write(RejectedRow.xmlFrame.0) }
            if format == .csv {
                try file.write(
                    RejectedRow.header(
                        rejection.header ?? "",
                        separator,
                        line: dialect.headerLine,
                        hasVariants: hasVariants
                    )
                )
            }
        }
        try file.write(
            RejectedRow.line(rejection, format, separator, isQuoted: dialect.isQuoted, hasVariants: hasVariants)
        )
    }

    /// Prints the number of unprinted rejections and closes the file.
    func end() throws {
        guard !hasEnded else { return }
        hasEnded = true
        if count > Self.printLimit {
            let rest = "rejected: and \(count - Self.printLimit) more"
            Console.note(
                file.map { "\(rest); all of them are in \($0.path)" }
                    ?? "\(rest); use --rejects FILE to save all of them"
            )
        }
        if format == .xml, hasHeader { try file?.write(RejectedRow.xmlFrame.1) }
        try file?.finish()
    }
}
