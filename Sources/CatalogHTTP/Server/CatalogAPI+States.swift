internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

// Reads that are at least as new as the client's writes: a write answers the token of the state after it, which the client sends with later
// reads.
extension CatalogAPI {
    /// The header with a token.
    private static let seen = HTTPField.Name("Aisle-Seen")!

    /// The maximum number of tokens in a request.
    private static let limit = 16

    /// Returns the token of a state that includes all that a client has seen; nil without the header.
    func seenState(of request: Request) throws(CatalogError) -> StateToken? {
        guard let text = request.headers[Self.seen] else { return nil }
        let words = text.split(separator: ",").map { part in part.filter { $0 != " " && $0 != "\t" } }
        let tokens = words.compactMap { Base64URL.decode($0).map { StateToken($0) } }
        guard tokens.count == words.count, tokens.count <= Self.limit,
            let token = catalog.states.token(including: tokens)
        else {
            throw .malformed(
                parameter: Self.seen.rawName,
                detail:
                    "Aisle-Seen must be the value of that header in an earlier response, or up to \(Self.limit) of them (got “\(text.prefix(64))”)"
            )
        }
        return token
    }

    /// Runs a handler. A read returns a state that includes one that the client has seen; if the endpoint permits it, replicas may answer. To
    /// the response of a write, adds the token of the state after it.
    func consistently(
        _ endpoint: Endpoint,
        after token: StateToken?,
        _ handler: () async throws -> Response
    ) async throws -> Response {
        if endpoint.readsReplicas { return try await catalog.states.performReads(after: token, handler) }
        if endpoint.isReadOnly { return try await handler() }
        return try await catalog.states.performWrites { token in
            do {
                var response = try await handler()
                response.headers[Self.seen] = Base64URL.encode(await token().bytes)
                return response
            } catch let error as CatalogError {
                var problem = Problem(error)
                guard problem.kind.contradictsState else { throw error }
                problem.headers[Self.seen] = Base64URL.encode(await token().bytes)
                throw problem
            }
        }
    }
}
