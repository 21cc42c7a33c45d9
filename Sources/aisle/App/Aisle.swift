internal import ArgumentParser
internal import Catalog

@main
struct Aisle: AsyncParsableCommand {
    static let version = "0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "aisle",
        abstract: "Keeps a grocery catalog and serves its shelves sorted.",
        discussion: """
            The database is found by --dsn, DATABASE_URL, libpq's own variables (PGHOST, PGDATABASE …), or is the private \
            PostgreSQL in .aisle/, in this order.

            Exit codes: 0 done; 1 failed; 3 a check found changes; 64 wrong usage; 65 bad data; 66 no such input; 69 database away; 75 try again; \
            77 denied; 78 configuration; 130 interrupted.
            """,
        version: version,
        subcommands: [
            DevCommand.self, ServeCommand.self, DatabaseCommand.self, SeedCommand.self, ImportCommand.self,
            ExportCommand.self, StoreCommand.self, ShelfCommand.self, SortCommand.self, DiffCommand.self,
            MoveCommand.self, OrderCommand.self, PurchasesCommand.self, PricesCommand.self, ResortCommand.self,
            PrefCommand.self, WatchCommand.self, TokenCommand.self,
            DoctorCommand.self, ConfigCommand.self, VersionCommand.self,
        ]
    )
}
