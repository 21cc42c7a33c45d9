internal import Catalog
internal import CatalogJSON

/// Rejected rows: the first ones are printed, all are counted and, if requested, written to a file.
final class Rejections {
    private(set) var count = 0
    private let file: OutputFile?
    private let hasRows: Bool

    /// The number of printed rejections.
    private static let printLimit = 20

    /// - Parameters:
    ///   - path: the CSV file for rejections; nil for none.
    ///   - input: the input file.
    ///   - hasRows: whether rejections include the raw rows.
    init(file path: String?, input: String, hasRows: Bool = false) throws {
        self.hasRows = hasRows
        file = try path.map { try OutputFile($0, option: "--rejects", input: input) }
        try file?.write("line,column,value,reason\(hasRows ? ",row" : "")\n")
    }

    func add(_ rejection: ImportRejection) throws {
        count += 1
        if count <= Self.printLimit { Console.note("rejected: \(rejection.description)") }
        var fields = [String(rejection.line), rejection.column ?? "", rejection.value ?? "", rejection.reason]
        if hasRows { fields.append(rejection.row ?? "") }
        try file?.write(fields.map(CSVReader.field).joined(separator: ",") + "\n")
    }

    /// Prints the number of unprinted rejections and closes the file.
    func end() throws {
        if count > Self.printLimit {
            let rest = "rejected: and \(count - Self.printLimit) more"
            Console.note(
                file.map { "\(rest); all of them are in \($0.path)" }
                    ?? "\(rest); use --rejects FILE to save all of them"
            )
        }
        try file?.finish()
    }
}
