internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

/// The common options of commands for a user's settings.
struct PrefOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The user.") var user: UserID
}
