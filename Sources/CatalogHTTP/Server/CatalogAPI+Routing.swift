package import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

// The dispatch of requests: routing, authentication, quota, and the endpoint's handler.
extension CatalogAPI {
    /// The maximum number of shelves whose products `warmUp` renders.
    private static let shelvesToRender = 300

    /// Renders products and a page before the first clients connect, whose pages would otherwise be slower. Errors do not matter.
    ///
    /// - Parameters:
    ///   - shelves: the shelves that clients will probably request first.
    ///   - deadline: when to stop rendering products.
    package func warmUp(_ shelves: [ShelfAddress], until deadline: ContinuousClock.Instant) async {
        for shelf in shelves.prefix(Self.shelvesToRender) where ContinuousClock.now < deadline && pages.hasRoom {
            await pages.warmUp(shelf)
        }
        guard let store = try? await catalog.shelves.stores().first,
            let shelf = try? await catalog.shelves.shelves(ShelvesRequest(store: store.key, limit: 1)).shelves.first
        else { return }
        let path = "/v1/stores/\(store.key)/shelves/\(shelf.shelf.key)/products?sort=price"
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
        // The second page comes from the cache.
        for _ in 0..<2 {
            guard let response = await unobservedResponse(to: head) else { return }
            try? await response.body.write(CollectedBody())
        }
    }

    /// Returns the response to a request of the server's own; nil if it fails.
    func unobservedResponse(to head: HTTPRequest) async -> Response? {
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        var exchange = Exchange(request: request, id: "", bodyLimit: 0)
        return try? await dispatch(&exchange)
    }

    /// Returns the route of a request; nil for an unknown path.
    private func route(of uri: URI) throws(CatalogError) -> EndpointTable.Route? {
        if let known = routes[uri.string] { return known }
        let target = try RequestTarget(path: uri.path, query: uri.query)
        guard let (resource, parameters) = table.match(target.segments) else { return nil }
        let route = EndpointTable.Route(target: target, resource: resource, parameters: parameters)
        routes[uri.string] = route
        return route
    }

    /// Returns the route of a request that is answered on the event loop of its connection; nil for others. Its body has not been
    /// read.
    func directRoute(of request: Request) -> EndpointTable.Route? {
        let fields = request.headers
        guard request.method == .get, fields[.contentLength] == nil, fields[.transferEncoding] == nil,
            fields[.connection].map({ $0.lowercased() == "keep-alive" }) ?? true, fields[.expect] == nil,
            let route = try? route(of: request.uri), route.resource.endpoint(.get)?.runsOnEventLoop == true
        else { return nil }
        return route
    }

    /// Returns the response of the endpoint of a request: routes, authenticates and charges it.
    func dispatch(_ exchange: inout Exchange) async throws -> Response {
        let request = exchange.request
        guard let route = try exchange.route ?? route(of: request.uri) else {
            // Allow the preflight, so that the browser sees the 404 of the actual request.
            if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
                return preflight(request, nil)
            }
            let target = try RequestTarget(path: request.uri.path, query: nil)
            if [.put, .patch].contains(request.method), let sku = table.invalidSKU(target.segments) {
                throw CatalogError.malformed(
                    parameter: "sku",
                    detail: "sku must be \(SKU.rule) (got “\(sku.prefix(64))”)"
                )
            }
            throw Problem(.notFound, "unknown path")
        }
        exchange.route = route
        let (resource, parameters) = (route.resource, route.parameters)
        if request.method == .options { return preflight(request, resource.allow) }
        exchange.bodyLimit = resource.endpoints.map { $0.bodyLimit.bytes(options.bodyLimit) }.max() ?? options.bodyLimit
        guard let endpoint = resource.endpoint(request.method == .head ? .get : request.method) else {
            var problem = Problem(.methodNotAllowed, "this path does not support \(request.method.rawValue)")
            problem.headers[.allow] = resource.allow
            throw problem
        }
        exchange.endpoint = endpoint
        var caller: Caller?
        do {
            caller = try await authenticator.caller(of: request, for: endpoint.access)
            try authenticator.authorize(caller, for: endpoint.access, in: parameters.storeIfNamed)
        } catch {
            // Guessing tokens is charged as well.
            let client = caller.map { .user($0.user) } ?? options.trustedProxies.anonymous(request, from: exchange.peer)
            try admission.charge(1, to: client, endpoint, &exchange.quota)
            throw error
        }
        var call = Call(
            endpoint: endpoint,
            request: request,
            route: route,
            caller: caller,
            bodyLoader: bodies,
            peer: exchange.peer,
            trustedProxies: options.trustedProxies,
            bodyLength: Self.bodyLength(request),
            deadlines: deadlines,
            isAbandoned: exchange.isAbandoned
        )
        let seen = try seenState(of: request)
        try admission.charge(call.points, to: call.client, endpoint, &exchange.quota)
        try route.checkQuery(endpoint)
        if call.bodyLength != 0 { call.bodyPermit = try admission.body(for: call.client) }
        call.heldBody = exchange.heldBody
        let handled = call
        // Requests on the event loop change nothing. Other reads may be recorded in the audit log, as an export is.
        let origin = endpoint.runsOnEventLoop ? nil : call.origin(exchange.id)
        let response = try await consistently(endpoint, after: seen) {
            do {
                guard let origin else { return try await handle(handled) }
                return try await origin.run { try await handle(handled) }
            } catch CatalogError.unknownFilter(let error) { throw handled.unknownParameter(error) }
        }
        admission.settle(response, call, &exchange.quota)
        return response
    }

    private func handle(_ call: Call) async throws -> Response {
        let endpoint = call.endpoint
        // A deadline would cost pages of one shelf too much.
        guard let limit = endpoint.timeLimit else { return try await endpoint.handler(call) }
        let isCostly = endpoint.isCostly(body: call.bodyLength)
        let permit = try isCostly ? admission.costlyRequests.permit(for: call.client) : nil
        defer { permit?.release() }
        let executor = isCostly ? BackgroundExecutor.shared : nil
        return try await call.within(limit) { call in
            guard let executor else { return try await endpoint.handler(call) }
            return try await withTaskExecutorPreference(executor) { try await endpoint.handler(call) }
        }
    }

    /// Returns the length of the body in bytes; nil if it is unknown.
    static func bodyLength(_ request: Request) -> Int? {
        if request.headers[.transferEncoding] != nil { return nil }
        return request.headers[.contentLength].flatMap { Int($0) } ?? 0
    }
}

extension CatalogAPI {
    /// Returns whether requests are answered; it does not need the database, and is not observed.
    package func isAlive() async -> Bool {
        let head = HTTPRequest(method: .get, scheme: nil, authority: "localhost", path: "/livez")
        return await unobservedResponse(to: head)?.status == .ok
    }
}
