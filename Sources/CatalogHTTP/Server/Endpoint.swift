internal import HTTPTypes
internal import Hummingbird

/// One operation of the API: what a request must be like, and the function that answers it.
///
/// The endpoints of all features form one table, which drives routing, `Allow`, CORS, authentication, body limits, time
/// limits, the labels of metrics, and a check against `openapi.json`.
struct Endpoint: Sendable {
    typealias Handler = @Sendable (Call) async throws -> Response

    let method: HTTPRequest.Method
    /// The path with the names of its parameters in braces, as `openapi.json` has it: `/v1/stores/{store}`.
    let path: String
    let access: Access
    let bodyLimit: BodyLimit
    /// How long a request may take, apart from the arrival of its body; nil if everything that it does has a shorter
    /// limit of its own.
    let timeLimit: Duration?
    /// The work of a request, relative to a page.
    let cost: Int
    /// Whether `openapi.json` has it; the pages of the storefront are not part of the API.
    let isDocumented: Bool
    let handler: Handler

    init(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ access: Access,
        body: BodyLimit = .standard,
        timeLimit: Duration? = .seconds(20),
        cost: Int = 1,
        isDocumented: Bool = true,
        _ handler: @escaping Handler
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.bodyLimit = body
        self.timeLimit = timeLimit
        self.cost = cost
        self.isDocumented = isDocumented
        self.handler = handler
    }

    /// The most bytes of a body.
    enum BodyLimit: Sendable {
        /// The limit that is configured for most requests.
        case standard
        /// Whole orders, or thousands of purchases or prices.
        case large

        func bytes(_ standard: Int) -> Int {
            switch self {
            case .standard: standard
            case .large: max(standard, 16 << 20)
            }
        }
    }
}

/// The endpoints of one feature.
protocol EndpointGroup: Sendable {
    var endpoints: [Endpoint] { get }
}
