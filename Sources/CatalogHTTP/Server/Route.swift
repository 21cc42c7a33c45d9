internal import Catalog
internal import HTTPTypes

/// What a path names.
enum Route {
    case stores
    case store(CatalogKey)
    case shelves(CatalogKey)
    case shelf(CatalogKey, CatalogKey)
    case page(CatalogKey, CatalogKey)
    case order(CatalogKey, CatalogKey)
    case orderDiff(CatalogKey, CatalogKey)
    case orderMoves(CatalogKey, CatalogKey)
    case orderUndo(CatalogKey, CatalogKey)
    case orderChanges(CatalogKey, CatalogKey)
    case shelfMoves(CatalogKey)
    case listDiff
    case placement(CatalogKey, CatalogKey, SKU)
    case products(CatalogKey)
    case product(CatalogKey, SKU)
    case imports(CatalogKey)
    case purchases(CatalogKey)
    case prices(CatalogKey)
    case shelfEvents(CatalogKey, CatalogKey)
    case mySort(CatalogKey, CatalogKey)
    case mySettings
    /// By its key, which may be none.
    case mySetting(String)
    case myLists(ListRoute)
    case myEvents, myTickets, myMerge, myExport, me
    case demo, demoTokens
    case demoStorm(CatalogKey)
    case live, ready, openAPI
    case web(WebAsset)
    case problem(ProblemKind)

    /// nil for a path that names nothing, a key or sku that none can have among them.
    init?(_ segments: [String]) {
        switch segments.count {
        case 1:
            switch segments[0] {
            case "livez": self = .live
            case "readyz": self = .ready
            case "openapi.json": self = .openAPI
            case "demo": self = .demo
            default:
                guard let asset = WebAsset(rawValue: segments[0]) else { return nil }
                self = .web(asset)
            }
        case 2:
            if segments[0] == "problems", let kind = ProblemKind(rawValue: segments[1]) {
                self = .problem(kind)
            } else if segments == ["v1", "stores"] {
                self = .stores
            } else if segments == ["v1", "me"] {
                self = .me
            } else if segments == ["demo", "tokens"] {
                self = .demoTokens
            } else {
                return nil
            }
        default:
            if segments == ["v1", "order", "diff"] {
                self = .listDiff
                return
            }
            if segments.count == 4, segments[0] == "demo", segments[1] == "stores", segments[3] == "storm",
                let store = CatalogKey(segments[2])
            {
                self = .demoStorm(store)
                return
            }
            if segments[0] == "v1", segments[1] == "me" {
                guard let own = Self.own(segments.dropFirst(2)) else { return nil }
                self = own
                return
            }
            guard segments[0] == "v1", segments[1] == "stores", let store = CatalogKey(segments[2]) else { return nil }
            self.init(store, segments.dropFirst(3))
        }
    }

    /// The invalid sku of a path that would otherwise name a product; nil for other paths.
    static func invalidSKU(_ segments: [String]) -> String? {
        let isProduct = segments.count == 5 && segments[3] == "products"
        let isPlacement = segments.count == 7 && segments[3] == "shelves" && segments[5] == "products"
        guard isProduct || isPlacement, segments.starts(with: ["v1", "stores"]), let last = segments.last,
            SKU(last) == nil
        else { return nil }
        return last
    }

    /// What is a user's own, behind `/v1/me/`.
    private static func own(_ parts: ArraySlice<String>) -> Route? {
        switch Array(parts) {
        case ["settings"]: return .mySettings
        case ["events"]: return .myEvents
        case ["tickets"]: return .myTickets
        case ["merge"]: return .myMerge
        case ["export"]: return .myExport
        default: break
        }
        if parts.first == "lists" { return ListRoute(parts.dropFirst()).map { .myLists($0) } }
        if parts.first == "settings" {
            // The rest of the path, slashes and all.
            return .mySetting(parts.dropFirst().joined(separator: "/"))
        }
        let names = Array(parts)
        guard names.count == 5, names[0] == "stores", names[2] == "shelves", names[4] == "sort",
            let store = CatalogKey(names[1]), let shelf = CatalogKey(names[3])
        else { return nil }
        return .mySort(store, shelf)
    }

    private init?(_ store: CatalogKey, _ rest: ArraySlice<String>) {
        let parts = Array(rest)
        switch (parts.first, parts.count) {
        case (nil, 0): self = .store(store)
        case ("shelves", 1): self = .shelves(store)
        case ("products", 1): self = .products(store)
        case ("imports", 1): self = .imports(store)
        case ("purchases", 1): self = .purchases(store)
        case ("prices", 1): self = .prices(store)
        case ("products", 2):
            guard let sku = SKU(parts[1]) else { return nil }
            self = .product(store, sku)
        case ("shelves", 2...4):
            guard let shelf = CatalogKey(parts[1]) else { return nil }
            switch (parts.count, parts.dropFirst(2).first) {
            case (2, nil): self = .shelf(store, shelf)
            case (3, "products"): self = .page(store, shelf)
            case (3, "order"): self = .order(store, shelf)
            case (3, "events"): self = .shelfEvents(store, shelf)
            case (3, "moves") where parts[1] == "order": self = .shelfMoves(store)
            case (4, "order") where parts[3] == "diff": self = .orderDiff(store, shelf)
            case (4, "order") where parts[3] == "moves": self = .orderMoves(store, shelf)
            case (4, "order") where parts[3] == "undo": self = .orderUndo(store, shelf)
            case (4, "order") where parts[3] == "changes": self = .orderChanges(store, shelf)
            case (4, "products"):
                guard let sku = SKU(parts[3]) else { return nil }
                self = .placement(store, shelf, sku)
            default: return nil
            }
        default: return nil
        }
    }

    /// The most bytes of a body that holds whole orders, or thousands of purchases or prices.
    static let orderBodyBound = 16 << 20

    /// The most bytes of a body, where most calls have the usual bound.
    func bodyBound(_ usual: Int) -> Int {
        switch self {
        case .order, .orderDiff, .orderMoves, .orderUndo, .shelfMoves, .listDiff, .purchases, .prices:
            max(usual, Self.orderBodyBound)
        default: usual
        }
    }

    /// How long a request may take, the arrival of its body apart; nil where everything that it does has a shorter limit of
    /// its own.
    func timeLimit(_ method: HTTPRequest.Method, _ options: CatalogAPI.Options) -> Duration? {
        switch (self, method) {
        case (.live, _), (.ready, _), (.openAPI, _), (.web, _), (.problem, _), (.demo, _): nil
        case (.page, .get), (.stores, .get), (.store, .get), (.shelves, .get), (.shelf, .get), (.products, .get),
            (.product, .get):
            nil
        case (.imports, _): options.importTimeout
        // A store's rules may touch all of its products.
        case (.store, _): .seconds(310)
        case (.prices, _): .seconds(130)
        case (.purchases, _), (.me, _), (.myMerge, _), (.demoStorm, _): .seconds(70)
        case (.order, _), (.orderDiff, _), (.orderMoves, _), (.orderUndo, _), (.listDiff, _), (.myExport, _):
            .seconds(40)
        default: .seconds(20)
        }
    }

    /// Who may call.
    enum Access {
        /// Anybody, and no token is looked at.
        case open
        /// Anybody; a token may change the answer.
        case anybody
        /// Who has a token, for their own.
        case user
        /// Who has a token with the scope.
        case scope(Scope)
    }

    func access(_ method: HTTPRequest.Method) -> Access {
        switch self {
        case .live, .ready, .openAPI, .problem, .web, .demo, .demoTokens: .open
        // It tells who did what.
        case .orderChanges: .scope(.catalogWrite)
        case .mySort, .mySettings, .mySetting, .myLists, .myTickets, .myMerge, .myExport, .me: .user
        // With a ticket, where there is no token.
        case .myEvents: .anybody
        // What is asked for does not fit into a URL, and nothing is changed.
        case .listDiff, .orderDiff: .anybody
        default: method == .get ? .anybody : .scope(.catalogWrite)
        }
    }

    /// What the header `Allow` says.
    var allow: String {
        ((methods.contains(.get) ? [.head] : []) + methods + [.options]).map(\.rawValue).joined(separator: ", ")
    }

    var methods: [HTTPRequest.Method] {
        switch self {
        case .stores, .shelves, .page, .products, .live, .ready, .openAPI, .problem, .web: [.get]
        case .orderChanges, .shelfEvents, .myEvents, .myExport, .demo: [.get]
        case .mySort, .mySetting: [.get, .put, .delete]
        case .mySettings: [.get, .put]
        case .myLists(let route): route.methods
        case .myTickets, .myMerge: [.post]
        case .me: [.delete]
        case .store: [.get, .put]
        case .shelf, .product: [.get, .put, .patch, .delete]
        case .order: [.get, .put]
        case .orderDiff: [.get, .post]
        case .orderMoves, .orderUndo, .shelfMoves: [.post]
        case .listDiff: [.post]
        case .placement: [.put, .delete]
        case .imports, .purchases, .prices, .demoTokens, .demoStorm: [.post]
        }
    }
}
