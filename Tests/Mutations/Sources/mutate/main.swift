import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

// Lists the faults that can be put into Swift files, as JSON.
//
// Usage: mutate ROOT FILE…   (paths relative to the root)

let root = URL(fileURLWithPath: CommandLine.arguments[1])
var found: [Mutation] = []
for path in CommandLine.arguments.dropFirst(2) {
    let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
    let tree = OperatorTable.standardOperators.foldAll(Parser.parse(source: text)) { _ in }
    let lines = SourceLocationConverter(fileName: path, tree: tree)
    let mutator = Mutator()
    mutator.walk(tree)
    for var mutation in mutator.mutations {
        mutation.file = path
        mutation.line = lines.location(for: AbsolutePosition(utf8Offset: mutation.start)).line
        found.append(mutation)
    }
}
let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
FileHandle.standardOutput.write(try encoder.encode(found))
