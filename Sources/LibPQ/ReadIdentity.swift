/// Identifies the queries and the result of a read, so that identical reads can be sent once.
package struct ReadIdentity: Sendable, Hashable {
    private let hash: Int
    private let isEqual: @Sendable (Self) -> Bool
    private let value: any Hashable & Sendable

    package init<Value: Hashable & Sendable>(_ value: Value) {
        hash = value.hashValue
        self.value = value
        isEqual = { $0.value as? Value == value }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    package static func == (a: Self, b: Self) -> Bool { a.hash == b.hash && a.isEqual(b) }
}
