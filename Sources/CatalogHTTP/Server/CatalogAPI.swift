package import CatalogJSON
package import Catalog
internal import HTTPTypes
package import Hummingbird
internal import NIOCore

/// The HTTP API: a request's path and method to a use-case, its answer to a response, its error to a problem.
package struct CatalogAPI: HTTPResponder {
    package typealias Context = BasicRequestContext

    package struct Options: Sendable {
        /// Origins whose pages may call.
        package var origins: [String] = []
        /// The most bytes of a body, but for imports.
        package var bodyBound = 1 << 20
        /// How long a body may take to arrive.
        package var bodyTimeout: Duration = .seconds(20)

        /// How many imports may be under way; others are told to try again.
        package var importsAtOnce = 4
        /// How long an import may take in all.
        package var importTimeout: Duration = .seconds(1800)
        /// How fast the body of an import has to arrive.
        package var importPace = ImportPace()
        /// How many bodies beyond the usual bound may be under way; others are told to try again.
        package var largeBodiesAtOnce = 4
        /// The most bytes of rendered pages that are remembered; 0 for none.
        package var pageCacheBound = 32 << 20
        /// What is open to everybody on this machine; nil for a server that is no demonstration.
        package var demo: Demo?
        /// Whether the server was asked to stop, and still serves those who know it.
        package var isDraining: @Sendable () -> Bool = { false }

        package init() {}
    }

    let catalog: any CatalogStore
    /// nil takes no token.
    let verifier: TokenVerifier?
    let live: LiveHub
    let importer: any CatalogImporting
    let cursors: CursorCodec
    let options: Options
    let observer: Observer
    let pages: PageCache
    let imports: Slots
    let largeBodies: Slots
    private let deadlines = DeadlineWatch()

    package init(
        catalog: any CatalogStore,
        importer: any CatalogImporting,
        cursors: CursorCodec,
        verifier: TokenVerifier?,
        live: LiveHub,
        options: Options = Options(),
        observer: Observer = .none
    ) {
        self.observer = observer
        self.catalog = catalog
        self.verifier = verifier
        self.live = live
        self.importer = importer
        self.cursors = cursors
        self.options = options
        imports = Slots(options.importsAtOnce)
        largeBodies = Slots(options.largeBodiesAtOnce)
        pages = PageCache(bound: options.pageCacheBound)
    }

    package func respond(to request: Request, context: Context) async throws -> Response {
        let start = ContinuousClock.now
        var bodyBound = options.bodyBound
        var response: Response
        do {
            guard request.head.authority?.isEmpty == false else {
                throw Problem(.malformedRequest, "the Host header is missing")
            }
            // The first Host is the authority; what is left is a second one.
            guard request.headers[.init("Host")!] == nil else {
                throw Problem(.malformedRequest, "the Host header is given twice")
            }
            response = try await dispatch(request, &bodyBound)
        } catch {
            // Under this ID the log has what the answer does not say.
            let requestID = UniqueID.random().text
            var problem = problem(error, requestID)
            if leavesMuchUnread(request, bodyBound) { problem.closes = true }
            response = problem.response(requestID: requestID)
        }
        if request.method == .head {
            response.body = ResponseBody(contentLength: response.body.contentLength) { try await $0.finish(nil) }
        }
        addCORS(to: &response, request)
        observer.see(
            .answered(
                method: request.method.rawValue,
                path: request.uri.path,
                status: response.status.code,
                duration: ContinuousClock.now - start
            )
        )
        return response
    }

    /// Whether a body may follow that is not worth reading once the request has failed.
    private func leavesMuchUnread(_ request: Request, _ bound: Int) -> Bool {
        if request.headers[.transferEncoding] != nil { return true }
        return request.headers[.contentLength].flatMap { Int($0) }.map { $0 > bound } ?? false
    }

    private func problem(_ error: any Error, _ requestID: String) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let error as CatalogError:
            if case .fault(let text) = error { observer.see(.fault(request: requestID, detail: text)) }
            return Problem(error)
        case is CancellationError: return Problem(CatalogError.unavailable)
        case is NIOTooManyBytesError: return tooLarge()
        case let error as any HTTPResponseError where error.status == .contentTooLarge: return tooLarge()
        default:
            observer.see(.fault(request: requestID, detail: String(reflecting: error)))
            return Problem(CatalogError.fault(""))
        }
    }

    /// - Parameter bodyBound: becomes the route's own.
    private func dispatch(_ request: Request, _ bodyBound: inout Int) async throws -> Response {
        let target = try RequestTarget(path: request.uri.path, query: request.uri.query)
        guard let route = Route(target.segments) else {
            // A browser that asks first is to see the 404 of what it asks for.
            if request.method == .options, request.headers[.accessControlRequestMethod] != nil {
                return preflight(request, nil)
            }
            if [.put, .patch].contains(request.method), let sku = Route.invalidSKU(target.segments) {
                throw CatalogError.malformed(parameter: "sku", detail: "a sku is \(SKU.rule) (got “\(sku.prefix(64))”)")
            }
            throw Problem(.notFound, "there is nothing at this path")
        }
        if request.method == .options { return preflight(request, route) }
        bodyBound = route.bodyBound(options.bodyBound)
        let method = request.method == .head ? .get : request.method
        guard route.methods.contains(method) else {
            var problem = Problem(.methodNotAllowed, "\(request.method.rawValue) does not apply here")
            problem.headers[.allow] = route.allow
            throw problem
        }
        let caller = try await authenticate(request, for: route.access(method))
        guard let limit = route.timeLimit(method, options) else {
            return try await serve(route, target, request, caller, method)
        }
        return try await deadlines.run(within: limit, or: Self.lateRequest(limit)) {
            try await serve(route, target, request, caller, method)
        }
    }

    private static func lateRequest(_ limit: Duration) -> Problem {
        var late = Problem(.unavailable, "the request was not finished within \(limit.components.seconds) seconds")
        late.headers[.retryAfter] = "1"
        return late
    }

    private func serve(
        _ route: Route,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?,
        _ method: HTTPRequest.Method
    ) async throws -> Response {
        if case .myEvents = route { return try await myEvents(target, request, caller) }
        if case .user = route.access(method), let caller { return try await own(route, target, request, caller) }
        return method == .get
            ? try await read(route, target, request, caller) : try await write(route, target, request, caller)
    }

    // MARK: - Parts

    func json(
        _ bytes: [UInt8],
        status: HTTPResponse.Status = .ok,
        tag: String? = nil,
        cache: String = "no-cache",
        headers extra: HTTPFields = [:]
    ) -> Response {
        var headers = extra
        headers[.contentType] = "application/json"
        headers[.cacheControl] = cache
        if let tag { headers[.eTag] = tag }
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    /// A JSON answer whose entity tag is a hash of its bytes: 304 where the client has it.
    func hashed(
        _ bytes: [UInt8],
        _ request: Request,
        cache: String = "public, no-cache",
        headers: HTTPFields = [:]
    ) -> Response {
        var hash = FNV64()
        hash.combine(String(decoding: bytes, as: UTF8.self))
        let tag = "\"\(String(hash.value, radix: 36))\""
        if knownTags(request).contains(tag) { return notModified(tag, cache, headers) }
        return json(bytes, tag: tag, cache: cache, headers: headers)
    }

    func notModified(_ tag: String, _ cache: String, _ headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.eTag] = tag
        headers[.cacheControl] = cache
        return Response(status: .notModified, headers: headers)
    }

    /// The entity tags of `If-None-Match`; weak ones count as strong for this comparison (RFC 9110, 13.1.2).
    func knownTags(_ request: Request) -> [String] {
        (request.headers[.ifNoneMatch] ?? "").split(separator: ",").prefix(16).map { tag in
            let trimmed = tag.drop { $0 == " " }
            return String((trimmed.hasPrefix("W/") ? trimmed.dropFirst(2) : trimmed).prefix { $0 != " " })
        }
    }

    func tooLarge(_ bound: Int? = nil) -> Problem {
        var problem = Problem(.tooLarge, "the body has more than \(bound ?? options.bodyBound) bytes")
        problem.closes = true
        return problem
    }

    /// A body of a media type, whole.
    func body(_ request: Request, types: [String] = CatalogAPI.jsonTypes) async throws -> JSONValue {
        try json(of: await bodyBytes(request, types: types, bound: options.bodyBound))
    }

    static let jsonTypes = ["application/json"]

    /// The media type of a body, without parameters; nil where none is named.
    func mediaType(_ request: Request) -> String? {
        request.headers[.contentType].map { header in
            (header.split(separator: ";").first ?? "").lowercased().filter { $0 != " " }
        }
    }

    /// The bytes of a body.
    ///
    /// - Parameter types: its media types; nil for any.
    func bodyBytes(
        _ request: Request,
        types: [String]? = CatalogAPI.jsonTypes,
        bound: Int
    ) async throws -> [UInt8] {
        if let types, let type = mediaType(request), !types.contains(type) {
            throw Problem(.unsupportedMediaType, "the body is \(type.prefix(64))", allowed: types)
        }
        try checkCoding(request)
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > bound { throw tooLarge(bound) }
        // What is large takes its time, and its memory many times over until it is read.
        let unknown = request.headers[.transferEncoding] == nil ? 0 : bound
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? unknown
        let isLarge = length > options.bodyBound
        guard !isLarge || largeBodies.enter() else { throw CatalogError.unavailable }
        defer { if isLarge { largeBodies.leave() } }
        return try await RequestDeadline.allow(
            options.bodyTimeout + .seconds(length / Self.leastRate),
            or: Self.lateBody
        ) {
            do { return Array(buffer: try await request.body.collect(upTo: bound)) } catch is NIOTooManyBytesError {
                throw tooLarge(bound)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw Self.brokenBody
            }
        }
    }

    static var lateBody: Problem {
        var problem = Problem(.payloadTimeout, "the body did not arrive in time")
        problem.closes = true
        return problem
    }

    /// A body that breaks off, or whose pieces are none.
    static let brokenBody = CatalogError.malformed(
        parameter: nil,
        detail: "the body breaks off, or is not framed as HTTP says"
    )

    /// - Throws: a body in a content coding is not read.
    func checkCoding(_ request: Request) throws {
        let coding = request.headers[.contentEncoding]?.lowercased() ?? "identity"
        guard coding == "identity" else {
            throw Problem(.unsupportedMediaType, "the body is in the coding \(coding.prefix(32)); send it plain")
        }
    }

    func json(of bytes: [UInt8]) throws(CatalogError) -> JSONValue {
        do { return try JSONReader.parse(bytes) } catch {
            throw CatalogError.malformed(
                parameter: nil,
                detail: "the body is no JSON that is accepted: \(error.detail), at byte \(error.offset)"
            )
        }
    }

    /// The fewest bytes a second at which a large body may come.
    private static let leastRate = 128 << 10
}
