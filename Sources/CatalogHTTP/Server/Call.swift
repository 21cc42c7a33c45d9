internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// A request to an endpoint, with everything that a handler needs.
struct Call: Sendable {
    let endpoint: Endpoint
    let request: Request
    let route: EndpointTable.Route
    /// The authenticated user; nil without a token.
    let caller: Caller?
    let bodyLoader: BodyLoader
    /// The address of the connection; nil if it is unknown.
    let peer: SocketAddress?
    let trustedProxies: TrustedProxies
    /// The length of the body in bytes; nil if it is unknown.
    let bodyLength: Int?
    let deadlines: DeadlineWatch
    /// Whether the client has closed the connection; reads then end.
    let isAbandoned: @Sendable () -> Bool
    /// Counts the work of a handler that costs more than its response shows.
    let work = WorkMeter()
    /// The permit for the body; nil without a body.
    var bodyPermit: BodyPermit?
    /// The body that the client sends only once it is asked for it; nil if it does not wait.
    var heldBody: HeldBody?
    /// The deadline of the response; nil if there is none.
    var deadline: RequestDeadline?

    /// The path and query, decoded.
    var target: RequestTarget { route.target }
    var parameters: PathParameters { route.parameters }

    /// The user of an endpoint whose access is `user`.
    var user: UserID { get throws(CatalogError) { try requiredCaller.user } }

    /// The caller of an endpoint whose access is `user`.
    var requiredCaller: Caller {
        get throws(CatalogError) {
            guard let caller else { throw .fault("\(endpoint.path) has no caller") }
            return caller
        }
    }

    var shelf: ShelfAddress {
        get throws(CatalogError) { ShelfAddress(try parameters.store, try parameters.shelf) }
    }

    /// The owner of declarations and synonyms: the store of the path; otherwise the deployment.
    var owner: DeclarationOwner { parameters.storeIfNamed.map { .store($0) } ?? .deployment }

    /// Parses the filter parameters; nil if there are none.
    func filter() throws(CatalogError) -> Filter? { try target.filter(apartFrom: endpoint.queryNames ?? []) }

    /// Returns the error for a parameter that is not a filter of the store: as it was written, and with the parameters of the endpoint.
    func unknownParameter(_ error: FilterError) -> CatalogError {
        let names = endpoint.queryNames ?? []
        guard error.field.isEmpty,
            let written = target.attributeFilters(apartFrom: names).first(where: {
                FilterKey(name: $0)?.name == error.key.name
            })
        else { return .unknownFilter(error) }
        let allowed = names + error.attributes
        return .malformed(
            parameter: written,
            detail: "unknown query parameter “\(written)”: it is not an attribute of the store either",
            allowed: allowed,
            hint: written.closest(among: allowed)
        )
    }

    /// The points that the request costs.
    var points: Int {
        endpoint.points(target, body: bodyLength, upTo: endpoint.bodyLimit.bytes(bodyLoader.limit))
    }

    /// The client that the request is charged to.
    var client: Client {
        caller.map { .user($0.user) } ?? trustedProxies.anonymous(request, from: peer)
    }

    var path: String { request.uri.path }

    /// Returns the origin of the changes that the request makes.
    func origin(_ requestID: String) -> ChangeOrigin {
        ChangeOrigin(
            source: .api,
            actor: caller?.user.text ?? Self.anonymousActor,
            address: trustedProxies.client(of: request, from: peer)?.description,
            token: caller?.token,
            requestID: requestID
        )
    }

    /// The actor of a request without a token, which can only change something in a demo.
    private static let anonymousActor = "anonymous"

    func header(_ name: HTTPField.Name) -> String? { request.headers[name] }

    /// The entity tags in `If-None-Match`, compared weakly (RFC 9110, section 13.1.2).
    var knownTags: [String] {
        (header(.ifNoneMatch) ?? "").split(separator: ",").prefix(16).map { tag in
            let trimmed = tag.drop { $0 == " " }
            return String((trimmed.hasPrefix("W/") ? trimmed.dropFirst(2) : trimmed).prefix { $0 != " " })
        }
    }

    /// Returns whether the client has the representation with an entity tag, or, with `*`, any current one.
    func knows(_ tag: String) -> Bool {
        let known = knownTags
        return known.contains(tag) || known.contains("*")
    }
}
