internal import ArgumentParser
internal import CatalogPostgres
internal import Postgres

struct DoctorCommand: AisleCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check everything that can be wrong with the database."
    )

    @OptionGroup var database: DatabaseOptions

    func execute() async throws {
        Console.note("database: \(database.source)")
        let findings = try await Doctor(try database.pool(size: 1)).examine()
        for finding in findings { print("\(finding.isGood ? "ok  " : "BAD ") \(finding.text)") }
        let bad = findings.filter { !$0.isGood }
        for remedy in bad.compactMap(\.remedy) { Console.note("mend it with: \(remedy)") }
        if !bad.isEmpty { throw ExitCode(CommandFailure.failed) }
    }
}

struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the configuration.",
        subcommands: [Show.self]
    )

    struct Show: AisleCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the settings in force; secrets only as set or not."
        )
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var server: ServerOptions
        func execute() async throws {
            print("database\t\(database.source)")
            for (name, value) in try await server.settings().listed { print("\(name)\t\(value)") }
        }
    }
}
