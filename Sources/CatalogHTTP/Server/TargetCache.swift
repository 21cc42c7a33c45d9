internal import Catalog

/// The values computed from request targets. Clients repeat targets.
final class TargetCache<Value: Sendable>: Sendable {
    /// The maximum length of a remembered target, in bytes.
    private static var lengthLimit: Int { 1024 }

    private let values = SharedCache<String, Value>(limit: 8 << 20, largest: cost(lengthLimit)) { target, _ in
        cost(target.utf8.count)
    }

    /// Returns an estimate of the maximum size of an entry, in bytes. A plan takes 500 bytes. A parameter takes 32 bytes, and at least 2
    /// bytes of the target.
    private static func cost(_ length: Int) -> Int { 1000 + 17 * length }

    /// The value of a target; nil if it is not remembered. The values of targets above the length limit are not remembered.
    subscript(target: String) -> Value? {
        get { values[target] }
        set { if target.utf8.count <= Self.lengthLimit { values[target] = newValue } }
    }
}
