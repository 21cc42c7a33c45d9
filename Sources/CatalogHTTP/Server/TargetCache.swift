internal import Catalog
internal import Synchronization

/// Values computed from request targets, which repeat.
final class TargetCache<Value: Sendable>: Sendable {
    /// The maximum length of a remembered target, in bytes.
    private static var lengthLimit: Int { 1024 }

    private let values = Mutex(RecentDictionary<String, Value>(limit: 4096))

    /// The value of a target; nil if it is not remembered. Values of very long targets are not.
    subscript(target: String) -> Value? {
        get { values.withLock { $0[target] } }
        set { if target.utf8.count <= Self.lengthLimit { values.withLock { $0[target] = newValue } } }
    }
}
