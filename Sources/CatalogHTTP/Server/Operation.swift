internal import HTTPTypes

/// The documentation of an endpoint in `openapi.json`, apart from what the endpoint itself implies.
///
/// The endpoint implies the parameters, the security and most responses. Schemas, and responses that several operations share,
/// are components, which `openapi.json` defines by hand.
struct Operation: Sendable {
    /// A unique camelCase name, from which generators of clients derive the name of a method.
    let id: String
    let tag: Tag
    /// A verb phrase without a period.
    let summary: String
    /// Full sentences; Markdown is allowed.
    let description: String
    /// The parameters of the query and in headers; nil if the endpoint ignores the query. Other parameters are rejected.
    let parameters: [Parameter]?
    let body: Body?
    /// The responses by status: those of success, and errors that the endpoint does not imply.
    let responses: [Int: Answer]

    init(
        _ id: String,
        _ tag: Tag,
        _ summary: String,
        _ description: String,
        parameters: [Parameter]? = [],
        body: Body? = nil,
        _ responses: [Int: Answer]
    ) {
        self.id = id
        self.tag = tag
        self.summary = summary
        self.description = description
        self.parameters = parameters
        self.body = body
        self.responses = responses
    }

    /// A group of operations.
    enum Tag: String, Sendable {
        case stores = "Stores"
        case shelves = "Shelves"
        case shelfProducts = "Shelf products"
        case products = "Products"
        case attributes = "Attributes"
        case search = "Search"
        case orders = "Orders"
        case diffs = "Diffs"
        case rememberedSorts = "Remembered sorts"
        case settings = "Settings"
        case events = "Events"
        case lists = "Lists"
        case listItems = "List items"
        case listShares = "List shares"
        case userData = "User data"
        case imports = "Imports"
        case purchasesAndPrices = "Purchases and prices"
        case audit = "Audit"
        case demo = "Demo"
        case operations = "Operations"
    }

    /// The body of a request.
    enum Body: Sendable {
        /// A JSON document of a schema.
        case json(String)
        /// The same, which may be missing.
        case optionalJSON(String)
        /// A merge patch (RFC 7396) of a schema.
        case mergePatch(String)
        /// Files of some media types.
        case file([String])
        /// No property is read, but the body must be JSON if there is one.
        case empty
        /// The body is read, and ignored.
        case ignored
    }

    /// A response to a request.
    enum Answer: Sendable {
        /// A JSON document of a schema.
        case json(_ description: String, _ schema: String, _ headers: [Header])
        /// No body.
        case empty(_ description: String)
        /// A response that `openapi.json` defines as a component.
        case component(_ name: String, isTagged: Bool = false)

        static func json(_ description: String, _ schema: String) -> Answer { .json(description, schema, []) }
        /// A JSON document with an entity tag.
        static func tagged(_ description: String, _ schema: String) -> Answer { .json(description, schema, [.tag]) }
        /// A JSON document with an entity tag, and the address of the new resource.
        static func created(_ description: String, _ schema: String) -> Answer {
            .json(description, schema, [.tag, .location])
        }
        static var noContent: Answer { .component("NoContent") }
    }

    /// A header of a response, by the name of its component.
    enum Header: String, Sendable {
        case tag = "ETag"
        case location = "Location"
        case link = "Link"
        case vary = "Vary"
        case contentEncoding = "ContentEncoding"

        var name: String { self == .contentEncoding ? "Content-Encoding" : rawValue }
    }
}
