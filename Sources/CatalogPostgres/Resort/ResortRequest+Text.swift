internal import Catalog
internal import JSON

extension ResortRequest {
    /// The request as JSON for the history.
    var text: String {
        JSONValue.object([
            .init("store", .text(store?.text)), .init("shelves", .array(shelves.map { .string($0.text) })),
            .init("changed_since", .text(changedSince?.rfc3339)), .init("diff", .string(diffs.rawValue)),
            .init("jobs", .integer(jobs)), .init("kept_days", .integer(retentionDays)),
        ]).text
    }

    /// Parses a request from the history; nil if it is invalid. A member that is missing has its default.
    init?(text: String) {
        guard let json = try? JSONReader.parse(Array(text.utf8)), case .object = json else { return nil }
        self.init()
        let isValid =
            Self.read(json["store"], into: &store) { $0.string.flatMap { CatalogKey($0) } }
            && Self.read(json["shelves"], into: &shelves) { value in
                guard case .array(let keys) = value else { return nil }
                let known = keys.compactMap { $0.string.flatMap { CatalogKey($0) } }
                return known.count == keys.count ? known : nil
            }
            && Self.read(json["changed_since"], into: &changedSince) { $0.string.flatMap { Timestamp(rfc3339: $0) } }
            && Self.read(json["diff"], into: &diffs) { $0.string.flatMap { DiffDetail(rawValue: $0) } }
            && Self.read(json["jobs"], into: &jobs) { $0.integer.map { min(max($0, 1), Self.jobsLimit) } }
            && Self.read(json["kept_days"], into: &retentionDays) { $0.integer.map { min(max($0, 1), 36_500) } }
        if !isValid { return nil }
    }

    /// Sets an optional property; the general form would accept the nil of an invalid member.
    private static func read<T>(_ member: JSONValue?, into property: inout T?, _ parse: (JSONValue) -> T?) -> Bool {
        guard let member, member != .null else { return true }
        property = parse(member)
        return property != nil
    }

    /// Sets a property to a member unless it is missing or null; returns false if the member is invalid.
    private static func read<T>(_ member: JSONValue?, into property: inout T, _ parse: (JSONValue) -> T?) -> Bool {
        guard let member, member != .null else { return true }
        guard let value = parse(member) else { return false }
        property = value
        return true
    }
}

extension JSONValue {
    fileprivate var string: String? { if case .string(let text) = self { text } else { nil } }
    fileprivate var integer: Int? { if case .number(let digits) = self { Int(digits) } else { nil } }
}
