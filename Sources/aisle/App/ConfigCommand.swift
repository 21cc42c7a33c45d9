internal import ArgumentParser
internal import CatalogPostgres
internal import LibPQ

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the configuration.",
        subcommands: [Show.self]
    )

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the effective settings; secrets are shown only as set or none."
        )
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var server: ServerOptions
        func execute() async throws {
            print("database\t\(database.source.title)")
            for (name, value) in try await server.settings().listed { print("\(name)\t\(value)") }
        }
    }
}
