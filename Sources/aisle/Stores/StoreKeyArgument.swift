internal import ArgumentParser
internal import Catalog

/// A store's key as a command line argument.
struct StoreKeyArgument: ExpressibleByArgument {
    let key: CatalogKey

    init?(argument: String) {
        guard let key = CatalogKey(argument) else { return nil }
        self.key = key
    }
}
