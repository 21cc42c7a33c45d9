internal import ArgumentParser
internal import Catalog

/// A setting's key as a command line argument.
struct SettingKeyArgument: ExpressibleByArgument {
    let key: SettingKey

    init?(argument: String) {
        guard let key = SettingKey(argument) else { return nil }
        self.key = key
    }
}
