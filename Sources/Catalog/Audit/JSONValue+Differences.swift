internal import JSON

extension JSONValue {
    /// The value with the members of objects in the order of their names, as jsonb compares them.
    private var sorted: JSONValue {
        switch self {
        case .array(let values): .array(values.map(\.sorted))
        case .object(let members):
            .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
        default: self
        }
    }

    /// Returns the members that differ between two objects, as the members `old` and `new`; empty if none do.
    ///
    /// - Parameters:
    ///   - old: nil for an object that was created; `new` then has all of its members that are not null.
    ///   - new: nil for an object that was deleted.
    static func differences(_ old: [Member]?, _ new: [Member]?) -> [Member] {
        guard let old, let new else {
            let whole = (old ?? new ?? []).filter { $0.value != .null }
            return old == nil && new == nil ? [] : [Member(old == nil ? "new" : "old", .object(whole))]
        }
        let after = Dictionary(new.map { ($0.name, $0.value) }) { first, _ in first }
        let changed = old.filter { $0.value.sorted != (after[$0.name] ?? .null).sorted }
        guard !changed.isEmpty else { return [] }
        return [
            Member("old", .object(changed)),
            Member("new", .object(changed.map { Member($0.name, after[$0.name] ?? .null) })),
        ]
    }
}
