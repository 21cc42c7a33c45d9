internal import JSON
package import Catalog

extension ResortRequest {
    /// The request as JSON for the history.
    package var text: String {
        var json = JSONWriter()
        json.object { json in
            json.field("store", store?.text)
            json.array("shelves", shelves) { $0.string($1.text) }
            json.field("changed_since", changedSince?.rfc3339)
            json.field("diff", diffs.rawValue)
            json.field("jobs", jobs)
            json.field("kept_days", retentionDays)
        }
        return json.text
    }

    /// Parses a request from the history; nil if it is invalid.
    package init?(text: String) {
        guard let value = try? JSONReader.parse(Array(text.utf8)), var reader = try? BodyReader(value) else {
            return nil
        }
        do {
            self.init(
                store: try reader.string("store", bytes: 64).flatMap { CatalogKey($0) },
                shelves: try reader.strings("shelves")?.compactMap { CatalogKey($0) } ?? [],
                changedSince: try reader.string("changed_since", bytes: 64).flatMap { Timestamp(rfc3339: $0) },
                diffs: try reader.choice("diff") ?? .summary,
                jobs: Int(min(max(try reader.integer("jobs") ?? 1, 1), 64)),
                retentionDays: Int(
                    min(max(try reader.integer("kept_days") ?? Int64(Purchase.retentionDays), 1), 36_500)
                )
            )
        } catch { return nil }
    }
}
