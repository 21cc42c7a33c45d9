package import Catalog
internal import CatalogJSON
internal import HTTPTypes
package import Hummingbird
package import Live
internal import HummingbirdCore
internal import NIOCore
internal import Platform

/// The HTTP API: routes requests to endpoints, checks their requirements, and turns errors into problem documents.
///
/// It has two entries: `EventLoopHandler` calls it on the event loop of a connection for short requests, above all pages; Hummingbird
/// calls it for all others.
package struct CatalogAPI: HTTPResponder {
    package typealias Context = CallContext

    let options: Options
    let table: EndpointTable
    let routes = RouteCache()
    let catalog: CatalogStorage
    let authenticator: Authenticator
    let bodies: BodyLoader
    let admission: Admission
    private let observer: Observer<HTTPObservation>
    let deadlines = DeadlineWatch()
    private let web: SiteEndpoints
    let pages: PageEndpoints

    package init(
        catalog: CatalogStorage,
        importer: any CatalogImporting,
        key: DeploymentKey,
        verifier: TokenVerifier?,
        live: LiveHub,
        options: Options = Options(),
        observer: Observer<HTTPObservation> = .none
    ) {
        self.options = options
        self.catalog = catalog
        self.observer = observer
        let admission = Admission(options)
        self.admission = admission
        let cursors = key.cursors
        let authenticator = Authenticator(verifier: verifier)
        self.authenticator = authenticator
        bodies = BodyLoader(
            limit: options.bodyLimit,
            timeout: options.bodyTimeout
        )
        web = SiteEndpoints(imageOrigins: options.imageOrigins)
        pages = PageEndpoints(
            store: catalog.pages,
            cursors: cursors,
            observer: observer,
            cache: PageCache(limit: options.pageCacheLimit),
            fragments: options.products
        )
        let groups: [any EndpointGroup] = [
            pages,
            StoreEndpoints(stores: catalog.shelves),
            ShelfEndpoints(
                shelves: catalog.shelves,
                settings: catalog.settings,
                attributes: catalog.attributes,
                cursors: cursors
            ),
            ProductEndpoints(products: catalog.products, pages: pages, cursors: cursors),
            AttributeEndpoints(attributes: catalog.attributes),
            SynonymEndpoints(synonyms: catalog.synonyms),
            SuggestionEndpoint(suggestions: catalog.suggestions),
            DiffEndpoints(pages: catalog.pages, responses: catalog.responses, cursors: cursors),
            RankEndpoint(pages: catalog.pages, responses: catalog.responses),
            ManualOrderEndpoints(orders: catalog.manualOrder),
            SettingEndpoints(settings: catalog.settings, attributes: catalog.attributes),
            RememberedSortEndpoints(
                settings: catalog.settings,
                pages: catalog.pages,
                attributes: catalog.attributes,
                cursors: cursors
            ),
            ListEndpoints(lists: catalog.lists),
            ListShareEndpoints(lists: catalog.lists, key: key),
            UserEndpoints(users: catalog.users, authenticator: authenticator, key: key),
            EventEndpoints(
                live: live,
                users: catalog.users,
                settings: catalog.settings,
                attributes: catalog.attributes,
                shelfStreams: admission.shelfStreams,
                observer: observer
            ),
            ImportProfileEndpoints(profiles: catalog.importProfiles),
            ImportEndpoint(
                importer: importer,
                profiles: catalog.importProfiles,
                responses: catalog.responses,
                timeLimit: options.importTimeout,
                pace: options.importPace,
                imports: admission.imports
            ),
            PurchaseEndpoint(purchases: catalog.purchases),
            PriceEndpoint(prices: catalog.prices),
            AuditEndpoint(audit: catalog.audit, cursors: cursors),
            DemoEndpoints(demo: options.demo, products: catalog.products, prices: catalog.prices),
            OperationEndpoints(storage: catalog.readiness, drainState: options.drainState),
            web,
        ]
        table = EndpointTable(groups.flatMap(\.endpoints))
    }

    package func respond(to request: Request, context: Context) async throws -> Response {
        let (departures, channel) = (options.departures, context.channel)
        let id = ObjectIdentifier(channel)
        let heldBody = request.expectsContinue ? HeldBody(channel: channel) : nil
        return await respond(to: request, nil, from: context.peer, heldBody) { departures.contains(id) }
    }

    /// Returns the response to a request; an error becomes a problem document.
    ///
    /// - Parameter peer: the address of the connection, if it is known.
    package func respond(to request: Request, from peer: SocketAddress? = nil) async -> Response {
        await respond(to: request, nil, from: peer)
    }

    /// Returns the response to a request; an error becomes a problem document.
    ///
    /// - Parameters:
    ///   - route: the route, if it is known.
    ///   - peer: the address of the connection, if it is known.
    ///   - heldBody: the body that the client sends only once it is asked for it; nil if it does not wait.
    ///   - isAbandoned: whether the client has closed the connection; reads then end.
    func respond(
        to request: Request,
        _ route: EndpointTable.Route?,
        from peer: SocketAddress? = nil,
        _ heldBody: HeldBody? = nil,
        isAbandoned: @escaping @Sendable () -> Bool = { false }
    ) async -> Response {
        CrashReport.prepareThread()
        let start = ContinuousClock.now
        observer.observe(.requestStarted)
        let requestID = RequestID.text(of: request)
        let trace = beginTrace(request, at: start)
        var exchange = Exchange(
            request: request,
            id: requestID,
            peer: peer,
            isAbandoned: isAbandoned,
            heldBody: heldBody,
            route: route,
            bodyLimit: options.bodyLimit
        )
        var response: Response
        var (isEndedByClient, isRateLimited) = (false, false)
        do {
            guard request.head.authority?.isEmpty == false else {
                throw Problem(.malformedRequest, "the Host header is required")
            }
            // The first Host header became the authority; a remaining one is a duplicate.
            guard request.headers[.init("Host")!] == nil else {
                throw Problem(.malformedRequest, "the Host header must be given only once")
            }
            // A target in absolute form also names the host (RFC 9112, section 3.2.2). Proxies and servers may disagree about
            // which one counts, so they must not differ.
            guard request.uri.host.map({ Self.isSameHost(request.head.authority, $0, request.uri.port) }) ?? true else {
                throw Problem(.malformedRequest, "the request target and the Host header name different hosts")
            }
            func answer() async throws -> Response { try await dispatch(&exchange) }
            response = if let trace { try await trace.run(answer) } else { try await answer() }
        } catch {
            var problem = problem(error, requestID)
            isEndedByClient = problem.kind == .unavailable && isAbandoned()
            if hasLargeUnreadBody(request, exchange.bodyLimit) { problem.closesConnection = true }
            isRateLimited = problem.kind == .rateLimited
            let page = problem.kind == .notFound ? web.missingPage(for: request) : nil
            response = page ?? problem.response(requestID: requestID)
        }
        if request.method == .head {
            response.body = ResponseBody(contentLength: response.body.contentLength) { try await $0.finish(nil) }
        }
        exchange.quota?.add(to: &response.headers)
        response.headers[RequestID.header] = requestID
        addTrace(trace, to: &response)
        addCORS(to: &response, request)
        // As in nginx, 499 says that the client has closed the connection.
        let status = isEndedByClient ? 499 : response.status.code
        let end = ContinuousClock.now
        self.end(trace, request, exchange.endpoint, status: status, requestID, at: end)
        let steps = slowSteps(trace, end - start)
        let namesClient = options.observesClients || steps != nil
        observer.observe(
            .requestCompleted(
                CompletedRequest(
                    method: request.method.rawValue,
                    path: exchange.endpoint?.isPersonal ?? true ? nil : request.uri.path,
                    endpoint: exchange.endpoint?.path,
                    status: status,
                    duration: end - start,
                    requestID: requestID,
                    traceID: trace?.id,
                    client: namesClient ? options.trustedProxies.anonymous(request, from: peer).text : nil,
                    responseBytes: request.method == .head ? 0 : response.body.contentLength,
                    steps: steps
                )
            )
        )
        // After the observation, whose duration is that of the work.
        if isRateLimited { await delayRejection() }
        return response
    }

    private static func isSameHost(_ authority: String?, _ host: String, _ port: Int?) -> Bool {
        authority?.lowercased() == (port.map { "\(host):\($0)" } ?? host).lowercased()
    }

    /// Delays a 429 response to slow down clients that ignore their quota, unless too many are delayed already.
    private func delayRejection() async {
        guard options.rejectionDelay > .zero, let permit = try? admission.delays.permit() else { return }
        defer { permit.release() }
        try? await Task.sleep(for: options.rejectionDelay)
    }

    /// Returns whether a large unread body may follow, which is not worth reading after an error.
    private func hasLargeUnreadBody(_ request: Request, _ limit: Int) -> Bool {
        Self.bodyLength(request).map { $0 > limit } ?? true
    }

    private func problem(_ error: any Error, _ requestID: String) -> Problem {
        switch error {
        case let closing as ClosingError:
            var problem = problem(closing.error, requestID)
            problem.closesConnection = true
            return problem
        case let problem as Problem: return problem
        case let error as CatalogError:
            if case .fault(let text) = error {
                observer.observe(.requestFailed(id: requestID, detail: text))
            }
            return Problem(error)
        case is CancellationError: return Problem(CatalogError.unavailable)
        case is NIOTooManyBytesError: return BodyLoader.tooLarge(options.bodyLimit)
        case let error as any HTTPResponseError where error.status == .contentTooLarge:
            return BodyLoader.tooLarge(options.bodyLimit)
        default:
            observer.observe(.requestFailed(id: requestID, detail: String(reflecting: error)))
            return Problem(CatalogError.fault(""))
        }
    }
}
