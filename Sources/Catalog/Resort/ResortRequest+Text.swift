internal import JSON

extension ResortRequest {
    /// The request as JSON for the history.
    package var text: String {
        JSONValue.object([
            .init("store", .text(store?.text)), .init("shelves", .array(shelves.map { .string($0.text) })),
            .init("changed_since", .text(changedSince?.rfc3339)), .init("diff", .string(diffs.rawValue)),
            .init("jobs", .integer(jobs)), .init("kept_days", .integer(retentionDays)),
        ]).text
    }

    /// Parses a request from the history; nil if it is invalid.
    package init?(text: String) {
        guard let json = try? JSONReader.parse(Array(text.utf8)), case .object = json else { return nil }
        self.init()
        if case .string(let key)? = json["store"] { store = CatalogKey(key) }
        if case .array(let keys)? = json["shelves"] {
            shelves = keys.compactMap { key -> CatalogKey? in
                guard case .string(let text) = key else { return nil }
                return CatalogKey(text)
            }
        }
        if case .string(let time)? = json["changed_since"] { changedSince = Timestamp(rfc3339: time) }
        if case .string(let name)? = json["diff"] {
            guard let known = DiffDetail(rawValue: name) else { return nil }
            diffs = known
        }
        if case .number(let digits)? = json["jobs"], let number = Int(digits) {
            jobs = min(max(number, 1), Self.jobsLimit)
        }
        if case .number(let digits)? = json["kept_days"], let number = Int(digits) {
            retentionDays = min(max(number, 1), 36_500)
        }
    }
}
