internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension CatalogAPI {
    /// Returns whether requests are answered; it does not need the database, and is not observed.
    package func isAlive() async -> Bool {
        let head = HTTPRequest(method: .get, scheme: nil, authority: "localhost", path: "/livez")
        return await unobservedResponse(to: head)?.status == .ok
    }
}
