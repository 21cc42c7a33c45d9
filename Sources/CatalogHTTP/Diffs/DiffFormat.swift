internal import AisleDiff
internal import Catalog
internal import CatalogJSON

/// The response formats of a diff.
enum DiffFormat: CaseIterable {
    case json, jsonPatch, wire

    var mediaType: String {
        switch self {
        case .json: "application/json"
        case .jsonPatch: "application/json-patch+json"
        case .wire: ShelfDiff<NoProduct>.mediaType
        }
    }

    /// Selects the preferred format of an `Accept` header; defaults to JSON. Source: RFC 9110, section 12.5.1.
    init(accepting header: String?) {
        var best: (form: DiffFormat, quality: Double)?
        for range in (header ?? "").lowercased().split(separator: ",").prefix(32) {
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " } }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            let matched =
                ["*/*", "application/*"].contains(parts.first)
                ? DiffFormat.json : DiffFormat.allCases.first { $0.mediaType == parts.first }
            if let matched, quality > best?.quality ?? 0 { best = (matched, quality) }
        }
        self = best?.form ?? .json
    }

    /// - Parameter cursors: the codec of the cursor with which pages continue after a window. The other formats have it only in the header `Link`.
    func bytes(of diff: OrderDiff, _ cursors: CursorCodec) -> [UInt8] {
        switch self {
        case .json: diff.json(cursors: cursors)
        case .jsonPatch: diff.jsonPatch()
        case .wire: diff.wireForm()
        }
    }
}
