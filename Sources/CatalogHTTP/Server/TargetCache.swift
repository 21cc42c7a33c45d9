internal import Catalog
internal import Synchronization

/// Values computed from request targets, which repeat.
final class TargetCache<Value: Sendable>: Sendable {
    /// The maximum length of a remembered target, in bytes.
    private static var lengthLimit: Int { 1024 }

    private let values = Mutex(RecentDictionary<String, Value>(limit: 8 << 20) { target, _ in cost(target) })

    /// Returns an upper bound of the size of an entry, in bytes: a parameter takes 32, and at least two in its target.
    private static func cost(_ target: String) -> Int { 500 + 17 * target.utf8.count }

    /// The value of a target; nil if it is not remembered. Values of very long targets are not.
    subscript(target: String) -> Value? {
        get { values.withLock { $0[target] } }
        set { if target.utf8.count <= Self.lengthLimit { values.withLock { $0[target] = newValue } } }
    }
}
