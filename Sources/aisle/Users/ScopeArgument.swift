internal import ArgumentParser
internal import Catalog
internal import CatalogHTTP

/// A scope as a command line argument.
struct ScopeArgument: ExpressibleByArgument {
    let scope: Scope

    init?(argument: String) {
        guard let scope = Scope(rawValue: argument) else { return nil }
        self.scope = scope
    }

    static var allValueStrings: [String] { Scope.allCases.map(\.rawValue) }
}
