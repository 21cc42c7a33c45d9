internal import ArgumentParser
internal import Catalog
internal import CatalogPostgres

/// What every command about a user's settings has.
struct PrefOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @Option(help: "Whose.") var user: UserArgument
}

/// A setting's key as typed.
struct SettingKeyArgument: ExpressibleByArgument {
    let key: SettingKey

    init?(argument: String) {
        guard let key = SettingKey(argument) else { return nil }
        self.key = key
    }
}
