/// The storage of a catalog: one store per feature.
///
/// `InMemoryCatalog` is its specification, `PostgresCatalog` its implementation; both pass one conformance suite.
package struct CatalogStorage: Sendable {
    package let shelves: any ShelfStore
    package let products: any ProductStore
    package let attributes: any AttributeStore
    package let synonyms: any SynonymStore
    package let suggestions: any SuggestionStore
    package let pages: any PageStore
    package let manualOrder: any ManualOrderStore
    package let purchases: any PurchaseStore
    package let prices: any PriceStore
    package let settings: any SettingsStore
    package let users: any UserStore
    package let lists: any ListStore
    package let versions: any VersionStore
    package let responses: any ResponseStore
    package let importProfiles: any ImportProfileStore
    package let audit: any AuditStore
    package let readiness: any ReadinessSource
    package let states: any StateSource

    package init(
        shelves: any ShelfStore,
        products: any ProductStore,
        attributes: any AttributeStore,
        synonyms: any SynonymStore,
        suggestions: any SuggestionStore,
        pages: any PageStore,
        manualOrder: any ManualOrderStore,
        purchases: any PurchaseStore,
        prices: any PriceStore,
        settings: any SettingsStore,
        users: any UserStore,
        lists: any ListStore,
        versions: any VersionStore,
        responses: any ResponseStore,
        importProfiles: any ImportProfileStore,
        audit: any AuditStore,
        readiness: any ReadinessSource,
        states: any StateSource
    ) {
        self.shelves = shelves
        self.products = products
        self.attributes = attributes
        self.synonyms = synonyms
        self.suggestions = suggestions
        self.pages = pages
        self.manualOrder = manualOrder
        self.purchases = purchases
        self.prices = prices
        self.settings = settings
        self.users = users
        self.lists = lists
        self.versions = versions
        self.responses = responses
        self.importProfiles = importProfiles
        self.audit = audit
        self.readiness = readiness
        self.states = states
    }
}

/// The readiness of a server.
package enum Readiness: Sendable, Equatable {
    /// The server accepts reads and writes.
    case ready
    /// The server accepts reads only: the database is a standby, or read-only.
    case readOnly
    case unavailable

    /// The purpose for which a client needs a server.
    package enum Purpose: String, CaseIterable, Sendable {
        case reads, writes
    }

    package func allows(_ purpose: Purpose) -> Bool {
        switch self {
        case .ready: true
        case .readOnly: purpose == .reads
        case .unavailable: false
        }
    }
}

/// A source of the storage's readiness.
package protocol ReadinessSource: Sendable {
    /// Returns the current readiness. A database with another schema version is unavailable.
    func readiness() async -> Readiness
}

/// Identifies a state of a storage, in bytes that only the storage understands.
package struct StateToken: Sendable, Hashable {
    package let bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }
}

/// Reads that include what a client has seen: a write returns the token of the state after it, which the client sends with later reads.
package protocol StateSource: Sendable {
    /// Returns the token of a state that includes other states; nil without any, or if one is not a token of this storage.
    func token(including tokens: [StateToken]) -> StateToken?

    /// Runs reads, which may return an earlier state than the current one.
    ///
    /// - Parameter token: the state that they include; nil for any state that is not too old.
    func performReads<T>(after token: StateToken?, _ body: () async throws -> T) async throws -> T

    /// Runs writes.
    ///
    /// - Parameter body: receives a function that returns the token of a state that includes the writes so far.
    func performWrites<T>(_ body: (_ token: @Sendable () async -> StateToken) async throws -> T) async throws -> T
}

/// The context in which the current task uses the storage: the origin of its changes, and the states that it reads.
///
/// It accompanies every operation of the stores without being an argument of it: the dispatch of requests and each command set it once.
package struct StorageContext: Sendable {
    /// The states that reads return, or that writes report.
    package enum States: Sendable {
        /// Reads return the current state.
        case latest
        /// Reads return a state that includes the state of a token; nil for any recent state.
        case including(StateToken?)
        /// Reads return the current state, and an object of the storage records the state after the last write.
        case recording(any AnyObject & Sendable)
    }

    @TaskLocal package static var current = StorageContext()

    package var origin = ChangeOrigin.server
    package var states = States.latest

    /// Runs work with the context.
    package func run<T>(_ body: () async throws -> T) async rethrows -> T {
        try await Self.$current.withValue(self, operation: body)
    }
}
