internal import Catalog
internal import HTTPTypes
internal import Hummingbird

/// The id of a request, which its response and the log have in common.
enum RequestID {
    static let header = HTTPField.Name("X-Request-Id")!

    /// Returns the client's own id if it has 1 to 128 printable ASCII characters, otherwise a new one.
    static func text(of request: Request) -> String {
        guard let text = request.headers[header], (1...128).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else { return UniqueID.random().text }
        return text
    }
}
