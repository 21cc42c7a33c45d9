internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP

/// A user id as a command line argument.
struct UserArgument: ExpressibleByArgument {
    let id: UserID

    init?(argument: String) {
        guard let id = UserID(argument) else { return nil }
        self.id = id
    }
}
