internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

// Reads that are at least as new as the client's writes: a write answers its position, which the client sends with later reads.
extension CatalogAPI {
    /// The header with a position.
    private static let seen = HTTPField.Name("Aisle-Seen")!

    /// The maximum number of positions in a request.
    private static let limit = 16

    /// Returns the position that includes all that a client has seen; nil without the header.
    static func requiredPosition(of request: Request) throws(CatalogError) -> LogPosition? {
        guard let text = request.headers[seen] else { return nil }
        let tokens = text.split(separator: ",").map { part in part.filter { $0 != " " && $0 != "\t" } }
        let positions = tokens.compactMap { LogPosition(token: $0) }
        guard positions.count == tokens.count, (1...limit).contains(tokens.count) else {
            throw .malformed(
                parameter: seen.rawName,
                detail:
                    "Aisle-Seen must be the value of that header in an earlier response, or up to \(limit) of them (got “\(text.prefix(64))”)"
            )
        }
        return positions.dropFirst().reduce(positions[0]) { $0.including($1) }
    }

    /// Runs a handler. A read answers with a state that includes a position, or on the primary with the current one. To the response of a
    /// write, adds the position after it.
    ///
    /// - Parameter origin: the origin of its changes; nil if it changes nothing.
    func positioned(
        _ endpoint: Endpoint,
        after position: LogPosition?,
        by origin: ChangeOrigin?,
        _ handler: () async throws -> Response
    ) async throws -> Response {
        if endpoint.isReadOnly {
            let requirement =
                endpoint.readsReplicas && catalog.positions.hasReplicas ? ReadRequirement(position: position) : nil
            if requirement == nil, origin == nil { return try await handler() }
            return try await RequestContext(origin: origin ?? .server, requirement: requirement).run(handler)
        }
        let recorder = PositionRecorder()
        do {
            let context = RequestContext(origin: origin ?? .server, positions: recorder)
            var response = try await context.run(handler)
            response.headers[Self.seen] = await token(recorder)
            return response
        } catch let error as CatalogError where error.dependsOnState {
            var problem = Problem(error)
            problem.headers[Self.seen] = await token(recorder)
            throw problem
        }
    }

    /// Returns the token of the position after a write. If it cannot be read, the token is one that only the primary meets.
    private func token(_ recorder: PositionRecorder) async -> String {
        if let position = recorder.position { return position.token }
        return await ((try? catalog.positions.position()) ?? .unknown).token
    }
}

extension CatalogError {
    /// Whether the error contradicts the state that the client has seen, which it will read again.
    fileprivate var dependsOnState: Bool {
        switch self {
        case .conflict, .stale, .staleSetting, .staleList: true
        default: false
        }
    }
}
