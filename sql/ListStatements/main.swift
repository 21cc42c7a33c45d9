import FoundationEssentials

// Lists the fixed statements of source files by the names of their declarations. Usage: ListStatements OUTPUT FILE…
//
// A fixed statement is a static property of type `PostgresStatement` or `[PostgresStatement]`.

var entries: [String] = []
for path in CommandLine.arguments.dropFirst(2) {
    var type = ""
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
        if let match = line.firstMatch(of: #/^(?:[a-z]+ )*(?:enum|struct|extension|class) (\w+)/#) {
            type = String(match.1)
        }
        let property = #/^    (?:\w+ )*static let (\w+)(?:: (\[)?PostgresStatement| = PostgresStatement)/#
        guard let match = line.firstMatch(of: property) else { continue }
        let name = "\(type).\(match.1)"
        entries.append("        (\"\(name)\", \(match.2 == nil ? "[\(name)]" : name)),")
    }
}
let source = """
    internal import LibPQ

    extension StatementRegistry {
        static let statements: [(name: String, statements: [PostgresStatement])] = [
    \(entries.sorted().joined(separator: "\n"))
        ]
    }

    """
// An unchanged file keeps its time, so that a build that only links this tool again compiles nothing.
let output = CommandLine.arguments[1]
if (try? String(contentsOfFile: output, encoding: .utf8)) != source {
    try source.write(toFile: output, atomically: true, encoding: .utf8)
}
