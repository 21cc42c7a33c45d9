internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres
internal import NIOCore
internal import Platform

@main
struct Aisle: AsyncParsableCommand {
    static let version = "0.2.0"

    static let configuration = CommandConfiguration(
        commandName: "aisle",
        abstract: "Manage a grocery catalog and serve its sorted shelves.",
        discussion: """
            The database is selected by --dsn, DATABASE_URL, the file of AISLE_DATABASE_URL_FILE, libpq's variables (PGHOST, \
            PGDATABASE …), or is the private PostgreSQL in .aisle/, in this order.

            Exit codes: 0 success; 1 failure; 3 changes found by --check; 64 usage error; 65 invalid data; 66 input not found; 69 unavailable; 73 cannot create a file; 75 try again; \
            77 permission denied; 78 configuration error; 130 interrupted.
            """,
        version: version,
        subcommands: [
            DevCommand.self, ServeCommand.self, DatabaseCommand.self, SeedCommand.self, ImportCommand.self,
            ImportProfileCommand.self, ExportCommand.self, StoreCommand.self, ShelfCommand.self,
            ProductCommand.self, AttributeCommand.self, SynonymsCommand.self, SuggestCommand.self, SearchCommand.self,
            SortCommand.self,
            DiffCommand.self,
            MoveCommand.self,
            OrderCommand.self,
            PurchasesCommand.self, PricesCommand.self, ResortCommand.self,
            PrefCommand.self, AuditCommand.self, WatchCommand.self, TokenCommand.self, StatusCommand.self,
            DoctorCommand.self, ConfigCommand.self, VersionCommand.self,
        ]
    )

    static func main() async {
        MemoryArenas.limit(ConnectionCounts.eventLoops(processors: System.coreCount))
        let arguments = Array(CommandLine.arguments.dropFirst())
        do {
            var command = try await asyncParseAsRoot(arguments)
            if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
        } catch {
            // A command that ended with an exit code has reported its error.
            guard !(error is ExitCode), exitCode(for: error) == .validationFailure else { exit(withError: error) }
            Console.note(UsageErrors.message(error, arguments))
            exit(withError: ExitCode.validationFailure)
        }
    }
}

struct VersionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Print the program's version.")
    @Option(help: "text or json.") var format: ReportFormat = .text
    func run() async throws {
        guard format == .json else { return Console.line("aisle \(Aisle.version)") }
        Console.line(#"{"version":"\#(Aisle.version)"}"#)
    }
}
