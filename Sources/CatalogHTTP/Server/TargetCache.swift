internal import Catalog

/// Values computed from request targets, which repeat.
final class TargetCache<Value: Sendable>: Sendable {
    /// The maximum length of a remembered target, in bytes.
    private static var lengthLimit: Int { 1024 }

    private let values = SharedCache<String, Value>(limit: 8 << 20, largest: cost(lengthLimit)) { target, _ in
        cost(target.utf8.count)
    }

    /// Returns an upper bound of the usual size of an entry, in bytes: a plan takes 500, and a parameter 32, and at least two in its target.
    private static func cost(_ length: Int) -> Int { 1000 + 17 * length }

    /// The value of a target; nil if it is not remembered. Values of very long targets are not.
    subscript(target: String) -> Value? {
        get { values[target] }
        set { if target.utf8.count <= Self.lengthLimit { values[target] = newValue } }
    }
}
