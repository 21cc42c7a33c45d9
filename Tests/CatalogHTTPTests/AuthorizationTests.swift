import JSON
import Catalog
import CatalogHTTP
import CatalogJSON
import HTTPTypes
import Hummingbird
import NIOCore
import TestSupport
import Testing

/// Every documented operation with every kind of identity: the description is the oracle of what each may do.
@Suite(.timeLimit(.minutes(5))) struct AuthorizationTests {
    /// An operation with the access that `openapi.json` describes.
    struct Operation: CustomTestStringConvertible {
        let method: String
        let path: String
        /// Whether a token is required, and with which scope.
        let needsToken: Bool
        let scope: Scope?
        /// Whether a token is ignored.
        let ignoresToken: Bool

        var testDescription: String { "\(method) \(path)" }
    }

    private enum Identity: CaseIterable {
        case nobody, invalid, user, guest
        /// A user whose token has expired.
        case expired
        /// A user whose token is signed with another key.
        case foreign
        /// A ticket for a stream, given as a token.
        case ticket
    }

    private static let own = CatalogKey("s")!

    static let operations: [Operation] = {
        let document = try! JSONReader.parse(OpenAPI.document)
        var operations: [Operation] = []
        for path in document["paths"]?.members ?? [] {
            for operation in path.value.members ?? [] where operation.name != "parameters" {
                let (alternatives, isDeclared): ([JSONValue], Bool) =
                    if case .array(let values)? = operation.value["security"] { (values, true) } else { ([], false) }
                let bearers = alternatives.compactMap { $0["bearer"] }
                var scope: Scope?
                if case .array(let scopes)? = bearers.first, case .string(let text)? = scopes.first {
                    scope = Scope(rawValue: text)
                }
                operations.append(
                    Operation(
                        method: operation.name.uppercased(),
                        path: path.name,
                        needsToken: isDeclared && !alternatives.isEmpty && !alternatives.contains(.object([])),
                        scope: scope,
                        ignoresToken: !isDeclared || alternatives.isEmpty
                    )
                )
            }
        }
        return operations
    }()

    /// Returns a path of the operation in the store `s`.
    private static func path(_ template: String) -> String {
        let id = "018f0000-0000-7000-8000-000000000000"
        return [
            "{store}": "s", "{shelf}": "dairy", "{sku}": "milk", "{list}": id, "{item}": id, "{share}": id,
            "{slug}": "not-found", "{key}": "a", "{name}": "supplier",
            "{attribute}": "rating",
        ].reduce(template) { $0.replacing($1.key, with: $1.value) }
    }

    private func status(_ api: MemoryAPI, _ operation: Operation, _ token: String?) async throws -> Int {
        var head = HTTPRequest(
            method: HTTPRequest.Method(operation.method)!,
            scheme: "http",
            authority: "localhost",
            path: Self.path(operation.path)
        )
        if let token { head.headerFields[.authorization] = "Bearer \(token)" }
        // A body that no operation accepts, so that nothing changes.
        head.headerFields[.contentType] = "application/json"
        head.headerFields[.contentLength] = "1"
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: "x")))
        return await api.api.respond(to: request).status.code
    }

    /// As long as a ticket.
    private static let ticket = String(repeating: "a", count: 43)

    private func token(_ api: MemoryAPI, _ identity: Identity, _ scopes: Set<Scope>, _ stores: Set<CatalogKey>?)
        -> String?
    {
        switch identity {
        case .nobody: nil
        case .invalid: "x.y.z"
        case .user: api.token(of: "ann", scopes: scopes, stores: stores)
        case .guest: api.token(of: "guest:1", scopes: scopes, stores: stores)
        case .expired: api.token(of: "ann", scopes: scopes, stores: stores, expiresIn: -3600)
        case .foreign:
            api.token(
                of: "ann",
                scopes: scopes,
                stores: stores,
                secret: Array("another secret of thirty-two bytes".utf8)
            )
        case .ticket: Self.ticket
        }
    }

    @Test("The description covers the operations that change a store")
    func operationsAreFound() {
        #expect(Self.operations.count > 60)
        #expect(Set(Self.operations.compactMap(\.scope)) == Set(Scope.allCases))
    }

    @Test("Only permitted callers get past authorization", arguments: operations)
    func onlyPermittedCallersPass(_ operation: Operation) async throws {
        let api = try await MemoryAPI.withShelf()
        let scopeSets = [[]] + Scope.allCases.map { Set([$0]) } + [Set(Scope.allCases)]
        let storeSets: [Set<CatalogKey>?] = [nil, [Self.own], [CatalogKey("other")!], []]
        for identity in Identity.allCases {
            for scopes in scopeSets {
                for stores in storeSets {
                    // Operations without a store are not for tokens of some stores.
                    let isOfStore = operation.path.contains("{store}")
                    let mayStore = isOfStore ? stores?.contains(Self.own) ?? true : stores == nil
                    let found = try await status(api, operation, token(api, identity, scopes, stores))
                    let expected: Int? =
                        switch identity {
                        case _ where operation.ignoresToken: nil
                        case .nobody: operation.needsToken ? 401 : nil
                        case .invalid, .expired, .foreign, .ticket: 401
                        case .user, .guest:
                            if let scope = operation.scope,
                                scopes.isDisjoint(with: [scope, .catalogWrite]) || !mayStore
                            {
                                403
                            } else {
                                nil
                            }
                        }
                    let caller = "\(identity), \(scopes.map(\.rawValue).sorted()), \(stores?.map(\.text) ?? ["all"])"
                    if let expected {
                        #expect(found == expected, "\(caller)")
                    } else if operation.scope != nil {
                        #expect(found != 401 && found != 403, "\(caller): \(found)")
                    } else {
                        #expect(found != 401, "\(caller)")
                    }
                }
            }
        }
    }

    @Test("A rejected caller learns which scope or store is missing")
    func missingPermissionIsNamed() async throws {
        let api = try await MemoryAPI.withShelf()
        for (scopes, stores, missing) in [
            (Set<Scope>([.orderWrite, .pricesWrite]), Set<CatalogKey>?.none, "the scope products:write"),
            ([.productsWrite], [CatalogKey("other")!], "the store “s”"),
        ] {
            let token = api.token(of: "ann", scopes: scopes, stores: stores)
            let response = try await api.send(
                .put,
                "/v1/stores/s/products/milk",
                "{}",
                as: nil,
                ["Authorization": "Bearer \(token)"]
            )
            #expect(response.status == 403)
            #expect(response.text("detail")?.contains(missing) == true)
            #expect(response.headers[.wwwAuthenticate]?.contains(#"scope="products:write""#) == true)
        }
    }
}
