package import Catalog

/// The separator of a CSV file, and the place of its header.
package struct CSVLayout: Sendable, Equatable {
    package var separator: FieldSeparator
    /// The line on which the header starts, from 1.
    package var headerLine: Int
    /// The number of bytes of a first line such as `sep=;`, which spreadsheets write.
    var preambleLength = 0

    /// The number of rows in which the header is looked for.
    private static let rowLimit = 20

    /// Finds the layout of a file.
    ///
    /// The header is the first row that has the required columns with one of the separators. Of several separators, the
    /// one with the most columns counts. Without such a row, the first row is the header.
    ///
    /// - Parameters:
    ///   - text: the first bytes of the file, as UTF-8.
    ///   - isHeader: whether titles have all required columns.
    static func find(_ text: [UInt8], _ dialect: FileDialect, isHeader: ([String]) -> Bool) -> CSVLayout {
        let preamble = preamble(text)
        let separators = (dialect.separator ?? preamble?.separator).map { [$0] } ?? FieldSeparator.allCases
        let length = preamble?.length ?? 0
        var best: (line: Int, isHeader: Bool, separator: FieldSeparator, columns: Int)?
        for separator in separators {
            let records = firstRecords(text[length...], separator, line: length == 0 ? 1 : 2, dialect)
            let candidates = dialect.headerLine == nil ? records[...] : records.prefix(1)
            guard let header = candidates.first(where: { isHeader(titles($0)) }) ?? records.first else { continue }
            let found = (header.line, isHeader(titles(header)), separator, header.count)
            if let known = best {
                guard known.isHeader == found.1 ? (known.line, found.3) > (found.0, known.columns) : found.1 else {
                    continue
                }
            }
            best = found
        }
        guard let best else { return CSVLayout(separator: separators[0], headerLine: 1, preambleLength: length) }
        return CSVLayout(separator: best.separator, headerLine: best.line, preambleLength: length)
    }

    static func titles(_ record: CSVReader.Record) -> [String] {
        (0..<record.count).map { (record.text($0) ?? "").trimmed.lowercased() }
    }

    /// The separator of a first line such as `sep=;`, and the length of the line.
    private static func preamble(_ text: [UInt8]) -> (separator: FieldSeparator, length: Int)? {
        let line = text.prefix(16).prefix { $0 != 0x0A && $0 != 0x0D }
        let content = line.filter { $0 != UInt8(ascii: "\"") }
        guard String(decoding: content.prefix(4), as: UTF8.self).lowercased() == "sep=", content.count >= 5,
            let separator = FieldSeparator.allCases.first(where: { $0.byte == content[4] }),
            content.dropFirst(5).allSatisfy({ $0 == 0x20 || $0 == separator.byte })
        else { return nil }
        let isCRLF = text[line.endIndex...].starts(with: [0x0D, 0x0A])
        return (separator, min(text.count, line.count + (isCRLF ? 2 : 1)))
    }

    /// Returns the first records that are not blank.
    ///
    /// Those above the header line of the dialect, if it has one, do not count.
    private static func firstRecords(
        _ text: ArraySlice<UInt8>,
        _ separator: FieldSeparator,
        line: Int,
        _ dialect: FileDialect
    ) -> [CSVReader.Record] {
        var reader = CSVReader(separator, line: line, isQuoted: dialect.isQuoted)
        var records: [CSVReader.Record] = []
        func take(_ event: CSVReader.Event) {
            guard case .record(let record) = event, records.count < rowLimit, !record.isBlank() else { return }
            if let headerLine = dialect.headerLine, record.line < headerLine { return }
            records.append(record)
        }
        var rest = text
        while !rest.isEmpty, records.count < rowLimit {
            rest.prefix(4096).withUnsafeBytes { reader.read($0, take) }
            rest = rest.dropFirst(4096)
        }
        if records.count < rowLimit { reader.end(take) }
        return records
    }
}
