internal import Catalog
internal import CatalogPostgres

/// Files of ids, one per line.
enum IDList {
    static func read(_ path: String) throws -> [String] {
        guard let text = String(validating: try InputFile.contents(path), as: UTF8.self) else {
            throw CommandFailure("\(path) is not valid UTF-8", CommandFailure.badData)
        }
        return text.composed.split(whereSeparator: \.isNewline).map(String.init)
    }
}
