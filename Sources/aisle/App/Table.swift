internal import JSON
internal import Catalog
internal import CatalogImport
internal import CatalogJSON

/// A table of text with column titles.
struct Table {
    struct Column {
        let title: String
        var isNumber = false
    }

    let columns: [Column]
    /// Whether lines of tsv and csv begin with the titles.
    var hasTitles = true
    var rows: [[String?]] = []

    func print(_ format: OutputFormat) { Console.data(text(format, width: Console.outputWidth)) }

    /// Returns the table in a format.
    ///
    /// - Parameter width: the width of the terminal, in letters; nil if it does not matter.
    func text(_ format: OutputFormat, width: Int? = nil) -> String {
        switch format {
        case .table: return aligned(width)
        case .tsv: return lines(separator: "\t") { $0.map { $0.isWhitespace ? " " : String($0) }.joined() }
        case .csv: return lines(separator: ",") { CSVReader.field($0) }
        case .json:
            var json = JSONWriter()
            json.array(rows) { write($1, to: &$0) }
            return json.text + "\n"
        case .ndjson:
            return rows.map { row in
                var json = JSONWriter()
                write(row, to: &json)
                return json.text + "\n"
            }.joined()
        }
    }

    private func write(_ row: [String?], to json: inout JSONWriter) {
        let members = zip(columns, row).map { column, value in
            JSONValue.Member(column.title, value.map { column.isNumber ? .number($0) : .string($0) } ?? .null)
        }
        json.raw(JSONValue.object(members).text)
    }

    private func lines(separator: String, _ quote: (String) -> String) -> String {
        var text = hasTitles ? columns.map(\.title).joined(separator: separator) + "\n" : ""
        for row in rows { text += row.map { quote($0 ?? "") }.joined(separator: separator) + "\n" }
        return text
    }

    private func aligned(_ width: Int?) -> String {
        let widths = fit(
            columns.indices.map { index in
                ([columns[index].title] + rows.map { $0[index] ?? "–" }).map(\.count).max() ?? 0
            },
            width
        )
        func line(_ cells: [String]) -> String {
            zip(columns.indices, cells).map { index, cell in
                let cell = cell.count > widths[index] ? cell.prefix(widths[index] - 1) + "…" : cell
                let gap = String(repeating: " ", count: max(0, widths[index] - cell.count))
                return columns[index].isNumber ? gap + cell : cell + gap
            }.joined(separator: "  ")
        }
        var text =
            line(columns.map(\.title)) + "\n" + widths.map { String(repeating: "─", count: $0) }.joined(separator: "  ")
            + "\n"
        for row in rows { text += line(row.map { $0 ?? "–" }) + "\n" }
        return text
    }

    /// Narrows the widest columns of text until the table fits the terminal; numbers and short columns stay whole.
    private func fit(_ widths: [Int], _ width: Int?) -> [Int] {
        guard let width else { return widths }
        var widths = widths
        var excess = widths.reduce(0, +) + 2 * (widths.count - 1) - width
        while excess > 0 {
            let texts = columns.indices.filter { !columns[$0].isNumber && widths[$0] > Self.narrowest }
            guard let widest = texts.max(by: { widths[$0] < widths[$1] }) else { break }
            widths[widest] -= 1
            excess -= 1
        }
        return widths
    }

    /// The width to which a column may be narrowed.
    private static let narrowest = 12
}
