internal import Catalog

/// The routes of request targets, which clients repeat.
final class RouteCache: Sendable {
    /// The maximum length of a remembered target, in bytes.
    private static let lengthLimit = 1024

    private let routes = SharedCache<String, EndpointTable.Route>(limit: 8 << 20, largest: cost(lengthLimit)) {
        target,
        _ in
        cost(target.utf8.count)
    }

    /// Returns an estimate of the maximum size of an entry, in bytes. A plan takes 500 bytes. A parameter takes 32 bytes, and at least 2
    /// bytes of the target.
    private static func cost(_ length: Int) -> Int { 1000 + 17 * length }

    /// The route of a target; nil if it is not remembered. The routes of targets above the length limit are not remembered.
    subscript(target: String) -> EndpointTable.Route? {
        get { routes[target] }
        set { if target.utf8.count <= Self.lengthLimit { routes[target] = newValue } }
    }
}
