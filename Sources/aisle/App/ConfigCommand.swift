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
        @Option(help: "The output format; table on a terminal, otherwise tsv.") var format: OutputFormat?
        func execute() async throws {
            var table = Table(columns: [.init(title: "setting"), .init(title: "value")])
            let replicas = try database.replicaConfigurations().count
            table.rows = [
                ["database", database.source.title], ["replicas", replicas == 0 ? "none" : "\(replicas) set"],
            ]
            table.rows += try server.settings().listed.map { [$0.name, $0.value] }
            table.print(.resolve(format))
        }
    }
}
