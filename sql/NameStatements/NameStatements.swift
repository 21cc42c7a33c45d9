import PackagePlugin

/// Lists the fixed statements of a target by the names of their declarations, which logs and traces show.
@main struct NameStatements: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let files = target.sourceModule?.sourceFiles(withSuffix: ".swift").map(\.url) ?? []
        let output = context.pluginWorkDirectoryURL.appending(path: "StatementRegistry+Statements.swift")
        return [
            .buildCommand(
                displayName: "Name the statements",
                executable: try context.tool(named: "ListStatements").url,
                arguments: [output.path()] + files.map { $0.path() },
                inputFiles: files,
                outputFiles: [output]
            )
        ]
    }
}
