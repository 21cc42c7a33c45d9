internal import CatalogJSON
internal import Catalog

/// Rows that are not taken: the first are told, all are counted, and kept in a file where one is named.
final class Rejections {
    private(set) var count = 0
    private let file: OutputFile?
    private let hasRows: Bool

    /// How many are told.
    private static let told = 20

    /// - Parameters:
    ///   - path: the CSV file that keeps them; nil keeps none.
    ///   - input: the file that is read.
    ///   - hasRows: whether rejections have their rows.
    init(keptIn path: String?, besides input: String, hasRows: Bool = false) throws {
        self.hasRows = hasRows
        file = try path.map { try OutputFile($0, option: "--rejects", besides: input) }
        try file?.write("line,column,value,reason\(hasRows ? ",row" : "")\n")
    }

    func note(_ rejection: ImportRejection) throws {
        count += 1
        if count <= Self.told { Console.note("rejected: \(rejection.description)") }
        var fields = [String(rejection.line), rejection.column ?? "", rejection.value ?? "", rejection.reason]
        if hasRows { fields.append(rejection.row ?? "") }
        try file?.write(fields.map(CSVReader.field).joined(separator: ",") + "\n")
    }

    /// Says how many were not told, and closes the file.
    func end() throws {
        if count > Self.told {
            let rest = "rejected: and \(count - Self.told) more"
            Console.note(file.map { "\(rest); \($0.path) has them all" } ?? "\(rest); --rejects FILE keeps them all")
        }
        try file?.finish()
    }
}
