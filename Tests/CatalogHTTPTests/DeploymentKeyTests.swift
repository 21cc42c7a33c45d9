import Catalog
import CatalogJSON
import Crypto
import HTTPTypes
import Testing

@testable import CatalogHTTP

/// Secrets that are derived from the key of the deployment, computed here without it.
@Suite(.timeLimit(.minutes(15))) struct DeploymentKeyTests {
    private static let bytes = Array("test".utf8)
    private static let key = DeploymentKey(bytes)
    private static let id = UniqueID("018f0000-0000-7000-8000-000000000000")!

    private static func mac(_ text: String) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: SymmetricKey(data: bytes)))
    }

    @Test("With an idempotency key, the secret follows from its purpose, the record and the key")
    func derivedSecrets() {
        #expect(
            Self.key.secret(.share, Self.id, idempotencyKey: "k") == Self.mac("aisle share \(Self.id.text) k")
        )
        #expect(
            Self.key.secret(.ticket, Self.id, idempotencyKey: "k") == Self.mac("aisle ticket \(Self.id.text) k")
        )
        let other = UniqueID("018f0000-0000-7000-8000-000000000001")!
        #expect(
            Self.key.secret(.share, other, idempotencyKey: "") == Self.mac("aisle share \(other.text) ")
        )
    }

    @Test("Without an idempotency key, the secret is random and has 32 bytes")
    func randomSecrets() {
        let secrets = (0..<4).map { _ in Self.key.secret(.share, Self.id, idempotencyKey: nil) }
        #expect(secrets.allSatisfy { $0.count == 32 })
        #expect(Set(secrets).count == 4)
    }

    @Test("A secret is found by its SHA-256")
    func digests() {
        #expect(DeploymentKey.digest([1, 2, 3]) == Array(SHA256.hash(data: [1, 2, 3] as [UInt8])))
    }

    @Test("Cursors are sealed with the first 16 bytes of the code of the key, and only by that key")
    func cursors() throws {
        let cursor = Cursor(
            scope: "s/dairy",
            sort: "price",
            source: .query,
            filter: "",
            filterSource: .query,
            dimension: .mass,
            isSoldOut: false,
            keyGeneration: 1,
            values: [.integer(7)],
            name: "Milk",
            id: "milk"
        )
        let text = Self.key.cursors.encode(cursor)
        let sealed = try #require(Base64URL.decode(text))
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(sealed.dropLast(16)),
            using: SymmetricKey(data: Self.bytes)
        )
        #expect(Array(sealed.suffix(16)) == Array(Array(code).prefix(16)))
        #expect(try Self.key.cursors.decode(text).id == "milk")
        #expect(throws: CatalogError.invalidCursor) { try DeploymentKey([1]).cursors.decode(text) }
        // Each code begins again.
        #expect(Self.key.cursors.encode(cursor) == text)
    }

    @Test("The tokens of shares and the texts of tickets are the derived secrets")
    func issuedSecrets() async throws {
        let api = try await MemoryAPI.withShelf()
        let list = try #require(try await api.send(.post, "/v1/me/lists", #"{"name":"a"}"#).text("id"))
        let path = "/v1/me/lists/\(list)/shares"
        let share = try await api.send(.post, path, "", ["Idempotency-Key": "k"])
        let id = try #require(share.text("id").flatMap { UniqueID($0) })
        let token = Base64URL.encode(Self.mac("aisle share \(id.text) k"))
        #expect(share.text("token") == token)
        // A repeat derives the token from the first id, not from a new one.
        let again = try await api.send(.post, path, "", ["Idempotency-Key": "k"])
        #expect(again.text("id") == id.text && again.text("token") == token)
        #expect(again.status == 201 && again.headers[.cacheControl] == "no-store")
        let other = try await api.send(.post, path, "")
        #expect(other.text("token").flatMap { Base64URL.decode($0) }?.count == 32)
        #expect(try await api.send(.post, "/v1/me/lists/join", #"{"token":"\#(token)"}"#, as: "bob").status == 200)
    }
}
