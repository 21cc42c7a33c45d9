import Foundation
import PackagePlugin

/// Lists the fixed statements of a target by the names of their declarations, which logs and traces show.
///
/// A fixed statement is a static property of type `PostgresStatement` or `[PostgresStatement]`, of a type in one of the target's files.
@main struct NameStatements: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let files = FileManager.default.enumerator(at: target.directoryURL, includingPropertiesForKeys: nil)
        var entries: [String] = []
        for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
            entries += Self.statements(of: try String(contentsOf: file, encoding: .utf8))
        }
        let source = """
            internal import LibPQ

            extension StatementRegistry {
                static let statements: [(name: String, statements: [PostgresStatement])] = [
            \(entries.sorted().joined(separator: "\n"))
                ]
            }

            """
        let output = context.pluginWorkDirectoryURL.appending(path: "sources")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let generated = output.appending(path: "StatementRegistry+Statements.swift")
        if (try? String(contentsOf: generated, encoding: .utf8)) != source {
            try source.write(to: generated, atomically: true, encoding: .utf8)
        }
        // The plugin itself has done the work; the command only declares the output folder.
        return [
            .prebuildCommand(
                displayName: "Name the statements",
                executable: URL(fileURLWithPath: "/bin/true"),
                arguments: [],
                outputFilesDirectory: output
            )
        ]
    }

    /// Returns the entries of the list for the statements of a file.
    private static func statements(of text: String) -> [String] {
        var entries: [String] = []
        var type = ""
        for line in text.split(separator: "\n") {
            if let match = line.firstMatch(of: #/^[a-z ]*(?:enum|struct|extension|class) (\w+)/#) {
                type = String(match.1)
            }
            guard
                let match = line.firstMatch(
                    of: #/^    (?:\w+ )*static let (\w+)(?:: (\[)?PostgresStatement| = PostgresStatement)/#
                )
            else { continue }
            let name = "\(type).\(match.1)"
            entries.append("        (\"\(name)\", \(match.2 == nil ? "[\(name)]" : name)),")
        }
        return entries
    }
}
