import Foundation
import PackagePlugin

/// Embeds the files of the folders `migrations` and `citus` in the program, so that a new migration needs no list.
@main struct EmbedMigrations: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        var source = "extension Schema {\n"
        for (folder, property) in [("migrations", "files"), ("citus", "citusFiles")] {
            source += try Self.property(property, target.directoryURL.appending(path: folder))
        }
        source += "}\n"
        let output = context.pluginWorkDirectoryURL.appending(path: "sources")
        try FileManager.default.createDirectory(at: output, withIntermediateDirectories: true)
        let generated = output.appending(path: "Schema+Files.swift")
        if (try? String(contentsOf: generated, encoding: .utf8)) != source {
            try source.write(to: generated, atomically: true, encoding: .utf8)
        }
        // The plugin itself has done the work; the command only declares the output folder.
        return [
            .prebuildCommand(
                displayName: "Embed the migrations",
                executable: URL(fileURLWithPath: "/bin/true"),
                arguments: [],
                outputFilesDirectory: output
            )
        ]
    }

    /// Returns the declaration of a property with the files of a folder.
    private static func property(_ name: String, _ folder: URL) throws -> String {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "sql" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
        var source =
            "    /// The files of `\(folder.lastPathComponent)`, by name.\n    static let \(name): [(name: String, sql: String)] = [\n"
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            // Characters that a raw literal would change.
            guard !text.contains("\r"), !text.contains("#####") else {
                throw EmbeddingError(description: "\(file.lastPathComponent) has a carriage return or #####")
            }
            source += "(\"\(file.lastPathComponent)\", #####\"\"\"\n\(text)\n\"\"\"#####),\n"
        }
        return source + "    ]\n"
    }
}

struct EmbeddingError: Error, CustomStringConvertible {
    let description: String
}
