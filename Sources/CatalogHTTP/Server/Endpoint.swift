internal import Catalog
internal import HTTPTypes
internal import Hummingbird

/// One operation of the API: the requirements on a request, and its handler.
///
/// The endpoints of all features form one table. It drives routing, `Allow`, CORS, authentication, body limits, time
/// limits, the labels of metrics, and the paths of `openapi.json`.
struct Endpoint: Sendable {
    typealias Handler = @Sendable (Call) async throws -> Response

    let method: HTTPRequest.Method
    /// The path template, as in `openapi.json`: `/v1/stores/{store}`.
    let path: String
    let access: Access
    /// The documentation; nil for pages of the storefront, which are not part of the API.
    let operation: Operation?
    let bodyLimit: BodyLimit
    /// The time limit of a request, excluding the arrival of its body. It is nil if the handler sets a limit where one is needed, or if each
    /// operation has a shorter one.
    let timeLimit: Duration?
    /// The base cost of a request, in points; reading a page costs one.
    let cost: Int
    /// The points that a request costs in addition, because of its parameters.
    let surcharge: @Sendable (RequestTarget) -> Int
    /// Whether every request takes much processor time: whole orders and their diffs.
    let isCostly: Bool
    /// Whether GET requests without a body are answered on the event loop of their connection, because they take little time. A handler
    /// leaves it for longer work. Probes are included, because a probe must not wait for other requests.
    let runsOnEventLoop: Bool
    /// Whether requests change nothing, so that they are cancelled when the client disconnects.
    let isReadOnly: Bool
    /// Whether replicas may answer requests: pages of products and the orders of shelves, which are most of the load.
    let readsReplicas: Bool
    let handler: Handler

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ access: Access,
        _ operation: Operation?,
        body: BodyLimit = .standard,
        timeLimit: Duration? = TimeLimit.edit.request,
        cost: Int = 1,
        surcharge: @escaping @Sendable (RequestTarget) -> Int = { _ in 0 },
        isCostly: Bool = false,
        runsOnEventLoop: Bool = false,
        isReadOnly: Bool? = nil,
        readsReplicas: Bool = false,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.operation = operation
        self.bodyLimit = body
        self.timeLimit = timeLimit
        self.cost = cost
        self.surcharge = surcharge
        self.isCostly = isCostly
        self.runsOnEventLoop = runsOnEventLoop
        self.isReadOnly = isReadOnly ?? (method == .get)
        self.readsReplicas = readsReplicas
        self.handler = handler
    }

    /// The names of the query parameters that requests may have; nil if the endpoint ignores the query.
    var queryNames: [String]? { operation?.parameters?.filter { $0.place == .query }.map(\.name) }

    /// Whether requests may have filters, also by attributes, whose names the endpoint does not know.
    var takesFilters: Bool { operation?.parameters?.contains(Parameter.filters[0]) ?? false }

    /// Whether requests are charged: all but probes, pages of the shop and the API description.
    var isCharged: Bool { if case .open = access { false } else { true } }

    /// The bytes of a request's body that cost one point.
    private static let requestBytesPerPoint = 64 << 10
    /// The bytes of a response's body that its endpoint's cost includes.
    private static let includedResponseBytes = 32 << 10
    /// The further bytes of a response's body that cost one point: as many as a page has.
    private static let responseBytesPerPoint = 8 << 10

    /// Returns the points that a request costs.
    ///
    /// - Parameters:
    ///   - length: the length of the body in bytes; nil if it is unknown, which costs as much as the longest body.
    ///   - limit: the maximum length of the body.
    func points(_ target: RequestTarget, body length: Int?, upTo limit: Int) -> Int {
        cost + surcharge(target) + min(length ?? limit, limit) / Self.requestBytesPerPoint
    }

    /// The rows that take as much processor time as a page.
    private static let rowsPerPoint = 1000

    /// Returns the points that a completed request costs in addition, for the rows that were read or for the response, whichever
    /// costs more. A response that is not modified, or a diff without moves, is short and may still take long.
    ///
    /// - Parameter responseLength: the length of the response's body in bytes.
    static func points(rows: Int, responseLength: Int) -> Int {
        max(rows / rowsPerPoint, max(0, responseLength - includedResponseBytes) / responseBytesPerPoint)
    }

    /// The body length, in bytes, from which parsing counts as costly.
    private static let costlyBodyLength = 64 << 10

    /// Whether a request takes much processor time: whole orders and their diffs, and large bodies.
    ///
    /// - Parameter length: the length of the body in bytes; nil if it is unknown.
    func isCostly(body length: Int?) -> Bool { isCostly || (length ?? .max) >= Self.costlyBodyLength }

    /// The body limit of an endpoint.
    enum BodyLimit: Sendable {
        /// The configured standard limit.
        case standard
        /// The limit for whole orders, or thousands of purchases or prices.
        case large

        func bytes(_ standard: Int) -> Int {
            switch self {
            case .standard: standard
            case .large: max(standard, 16 << 20)
            }
        }
    }
}

/// The access level of an endpoint.
enum Access: Sendable {
    /// Everyone, free of charge; a token is ignored.
    case open
    /// Everyone; a token may change the response.
    case optionalToken
    /// Users with a token, for their own data.
    case user
    /// Users whose token has the scope, or a scope that includes it, for the store of the path.
    case scope(Scope)
}

/// The endpoints of one feature.
protocol EndpointGroup: Sendable {
    var endpoints: [Endpoint] { get }
}
