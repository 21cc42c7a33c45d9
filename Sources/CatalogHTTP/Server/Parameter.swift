internal import Catalog

/// A parameter of requests. `openapi.json` describes its values as a component.
struct Parameter: Sendable, Equatable, ExpressibleByStringLiteral {
    /// Where a request has a parameter.
    enum Place: String, Sendable { case path, query, header }

    /// The name in requests.
    let name: String
    /// The name of the component. Parameters of one name may have different values.
    let component: String
    let place: Place

    init(_ name: String, as component: String? = nil, in place: Place = .query) {
        self.name = name
        self.component = component ?? name
        self.place = place
    }

    init(stringLiteral name: String) { self.init(name) }

    static let sort: Parameter = "sort"
    static let shelfSort = Parameter("sort", as: "shelf_sort")
    static let listSort = Parameter("sort", as: "list_sort")
    static let itemSort = Parameter("sort", as: "item_sort")
    static let fromSort: Parameter = "from_sort"
    static let toSort: Parameter = "to_sort"
    static let barcode: Parameter = "barcode"
    static let query: Parameter = "q"
    static let search = Parameter("q", as: "search")
    static let limit: Parameter = "limit"
    static let suggestionLimit = Parameter("limit", as: "suggestion_limit")
    static let window = Parameter("limit", as: "window")
    static let cursor: Parameter = "cursor"
    static let filters = FilterKey.allCases.map { Parameter($0.name, as: "filter_\($0.name)") }
    static let facets: Parameter = "facets"
    static let total: Parameter = "total"
    static let include: Parameter = "include"
    static let collapse: Parameter = "collapse"
    static let members: Parameter = "members"
    static let mode: Parameter = "mode"
    static let indexes: Parameter = "indexes"
    static let since: Parameter = "since"
    static let listSince = Parameter("since", as: "list_since")
    static let shelfSince = Parameter("since", as: "shelf_since")
    static let ticket: Parameter = "ticket"
    static let streamProducts = Parameter("products", as: "stream_products")
    static let lastEventID = Parameter("Last-Event-ID", as: "last_event_id", in: .header)
    static let acceptLanguage = Parameter("Accept-Language", as: "accept_language", in: .header)
    static let orderIfMatch = Parameter("If-Match", as: "order_if_match", in: .header)
    static let shelvesIfMatch = Parameter("If-Match", as: "shelves_if_match", in: .header)
    static let settingIfMatch = Parameter("If-Match", as: "setting_if_match", in: .header)
    static let settingIfNoneMatch = Parameter("If-None-Match", as: "setting_if_none_match", in: .header)
    static let listIfMatch = Parameter("If-Match", as: "list_if_match", in: .header)
    static let attributeIfMatch = Parameter("If-Match", as: "attribute_if_match", in: .header)
    static let attributeConfirm = Parameter("confirm", as: "attribute_confirm")
    static let synonymsIfMatch = Parameter("If-Match", as: "synonyms_if_match", in: .header)
    static let ifNoneMatch = Parameter("If-None-Match", as: "if_none_match", in: .header)
    static let idempotencyKey = Parameter("Idempotency-Key", as: "idempotency_key", in: .header)
    static let seen = Parameter("Aisle-Seen", as: "seen", in: .header)

    /// Returns the parameter of a path template with a name.
    static func path(_ name: String) -> Parameter {
        Parameter(name, as: components[name] ?? name, in: .path)
    }

    private static let components = ["name": "profile_name", "key": "setting_key", "slug": "problem_slug"]
}
