internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

/// The common options of commands for a user's settings.
struct PrefOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @Option(help: "The user.") var user: UserArgument
}

/// A setting's key as a command line argument.
struct SettingKeyArgument: ExpressibleByArgument {
    let key: SettingKey

    init?(argument: String) {
        guard let key = SettingKey(argument) else { return nil }
        self.key = key
    }
}
