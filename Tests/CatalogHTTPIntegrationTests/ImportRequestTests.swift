import Catalog
import CatalogHTTP
import CatalogJSON
import HTTPTypes
import InMemoryCatalog
import JSON
import Live
import NIOCore
import Platform
import Synchronization
import TestSupport
import Testing

/// Requests of imports over a real socket: what of them reaches the importer, and what becomes of its results.
@Suite(.timeLimit(.minutes(15))) struct ImportRequestTests {
    /// An importer that records its calls, reads the file, and ends as a test says.
    private final class RecordingImporter: CatalogImporting {
        let calls = Mutex<[ImportOptions]>([])
        let files = Mutex<[[UInt8]]>([])
        private let rejections: Int
        private let failure: CatalogError?
        private let refusal: CatalogError?
        private let prunes = Mutex<[Bool]>([])

        init(rejections: Int = 0, failure: CatalogError? = nil, refusal: CatalogError? = nil) {
            self.rejections = rejections
            self.failure = failure
            self.refusal = refusal
        }

        var last: ImportOptions? { calls.withLock { $0.last } }
        var count: Int { calls.withLock { $0.count } }
        /// The answers to the question whether removals are confirmed.
        var confirmations: [Bool] { prunes.withLock { $0 } }

        func importFile<Chunks: AsyncSequence>(
            _ chunks: Chunks,
            _ options: ImportOptions,
            onReject: (ImportRejection) throws -> Void,
            onProgress: (Int) -> Void,
            onPrune: ([ShelfRemoval]) throws -> Bool
        ) async throws(CatalogError) -> ImportSummary where Chunks.Element == [UInt8] {
            calls.withLock { $0.append(options) }
            var (bytes, summary): ([UInt8], ImportSummary) = ([], ImportSummary())
            do {
                for try await chunk in chunks { bytes += chunk }
                onProgress(1)
                let isConfirmed = try onPrune([])
                prunes.withLock { $0.append(isConfirmed) }
                for line in 0..<rejections { try onReject(ImportRejection(line: line + 1, reason: "r")) }
            } catch let error as CatalogError { throw error } catch { throw .unavailable }
            files.withLock { $0.append(bytes) }
            if let failure { throw failure }
            summary.read = calls.withLock { $0.count }
            summary.refusal = refusal
            return summary
        }
    }

    private static let path = "/v1/stores/s/imports"

    /// Runs a body with a server that has the store `s`.
    private func withServer(
        _ importer: RecordingImporter,
        _ body: @escaping @Sendable (any TestClient) async throws -> Void
    ) async throws {
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!))
        let api = await TestAPI.api(catalog.storage, importer: importer)
        try await TestAPI.run(api, body)
    }

    private func post(
        _ client: any TestClient,
        _ query: String = "",
        _ body: [UInt8] = Array("sku\na\n".utf8),
        _ headers: HTTPFields = [:]
    ) async throws -> (response: TestResponse, json: JSONValue) {
        var fields: HTTPFields = [.contentType: "text/csv"]
        for field in headers { fields[field.name] = field.value }
        let response = try await client.execute(
            uri: Self.path + query,
            method: .post,
            headers: fields,
            body: ByteBuffer(bytes: body)
        )
        return (response, (try? JSONReader.parse(Array(buffer: response.body))) ?? .null)
    }

    @Test("An import without parameters has the limits of the API, and its file arrives unchanged")
    func defaults() async throws {
        let importer = RecordingImporter()
        try await withServer(importer) { client in
            let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
            let (response, json) = try await post(client, "", bytes)
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == "application/json")
            #expect(response.headers[.cacheControl] == "no-cache")
            #expect(response.headers[.connection] == "close")
            #expect(json["read"] == .number("1") && json["dry_run"] == .bool(false))
            #expect(importer.files.withLock { $0 } == [bytes])
            #expect(importer.confirmations == [false])
            let options = try #require(importer.last)
            #expect(options.format == .csv && options.store?.text == "s" && options.currency == nil)
            #expect(options.onError == .skip && !options.prunes && !options.confirmsPrune)
            #expect(!options.createsStores && !options.isDryRun && options.rejectsOtherStores)
            #expect(options.rejectedPercentLimit == ExactDecimal(5) && options.newShelfLimit == 1000)
            #expect(!options.profile.readsSizeFromName && options.profileName == nil)
            #expect(options.dialect == FileDialect() && !options.keepsRejectedRows)
        }
    }

    @Test("Each parameter of an import reaches its own option")
    func parameters() async throws {
        let importer = RecordingImporter()
        try await withServer(importer) { client in
            func options(_ query: String) async throws -> ImportOptions {
                let (response, json) = try await post(client, "?" + query)
                try #require(response.status == .ok, "\(json.text)")
                return try #require(importer.last)
            }
            #expect(try await options("on_error=abort").onError == .abort)
            #expect(try await options("on_error=skip").onError == .skip)
            #expect(try await options("prune=true").prunes)
            #expect(try await options("confirm_prune=true").confirmsPrune)
            #expect(try await options("create_store=true").createsStores)
            #expect(try await options("dry_run=true").isDryRun)
            #expect(try await options("size_from_name=true").profile.readsSizeFromName)
            #expect(try await options("currency=CZK").currency?.code == "CZK")
            #expect(try await options("max_new_shelves=0").newShelfLimit == 0)
            #expect(try await options("max_new_shelves=1000000").newShelfLimit == 1_000_000)
            #expect(try await options("max_rejects=2.5").rejectedPercentLimit == ExactDecimal("2.5"))
            #expect(try await options("max_rejects=100%25").rejectedPercentLimit == ExactDecimal(100))
            #expect(try await options("encoding=windows-1250").dialect.encoding == .windows1250)
            #expect(try await options("separator=pipe").dialect.separator == .pipe)
            #expect(try await options("decimal_mark=comma").dialect.decimalMark == .comma)
            #expect(try await options("header_line=1").dialect.headerLine == 1)
            #expect(try await options("header_line=1000").dialect.headerLine == 1000)
            let several = try await options("prune=false&confirm_prune=false&create_store=false&dry_run=false")
            #expect(!several.prunes && !several.confirmsPrune && !several.createsStores && !several.isDryRun)
        }
    }

    @Test("An invalid parameter is named, and nothing is imported")
    func invalidParameters() async throws {
        let importer = RecordingImporter()
        try await withServer(importer) { client in
            let long = String(repeating: "x", count: 17)
            for (query, parameter, detail) in [
                (
                    "currency=\(long)", "currency",
                    "currency must be an ISO 4217 code, such as EUR (got “\(long.prefix(16))”)"
                ),
                ("max_new_shelves=-1", "max_new_shelves", "max_new_shelves must be an integer between 0 and 1000000"),
                (
                    "max_new_shelves=1000001", "max_new_shelves",
                    "max_new_shelves must be an integer between 0 and 1000000"
                ),
                (
                    "max_rejects=\(long)", "max_rejects",
                    "max_rejects must be a percentage between 0 and 100 (got “\(long.prefix(16))”)"
                ),
                (
                    "max_rejects=100.1", "max_rejects",
                    "max_rejects must be a percentage between 0 and 100 (got “100.1”)"
                ),
                ("header_line=0", "header_line", "header_line must be an integer between 1 and 1000"),
                ("header_line=1001", "header_line", "header_line must be an integer between 1 and 1000"),
                ("on_error=stop", "on_error", "on_error must be skip, abort (got “stop”)"),
                ("prune=maybe", "prune", "prune must be true or false"),
                ("separator=x", "separator", "separator must be comma, semicolon, tab, pipe (got “x”)"),
            ] {
                let (response, json) = try await post(client, "?" + query)
                #expect(response.status == .badRequest, "\(query)")
                #expect(json["parameter"] == .string(parameter) && json["detail"] == .string(detail))
            }
            let (unknown, json) = try await post(client, "?profile=none")
            #expect(unknown.status == .notFound)
            #expect(json["detail"]?.string?.hasPrefix("import profile “none” (") == true)
            #expect(importer.count == 0)
        }
    }

    @Test("A profile is for the format that it names, and parameters take precedence over it")
    func profiles() async throws {
        let importer = RecordingImporter()
        try await withServer(importer) { client in
            let body = ByteBuffer(
                string: #"{"format":"csv","separator":"pipe","encoding":"windows-1250","columns":{"sku":"Code"}}"#
            )
            let saved = try await client.execute(
                uri: "/v1/import-profiles/supplier",
                method: .put,
                headers: [.contentType: "application/json"],
                body: body
            )
            #expect(saved.status == .created, "\(String(buffer: saved.body))")
            let (response, _) = try await post(client, "?profile=supplier&separator=tab")
            #expect(response.status == .ok)
            let options = try #require(importer.last)
            #expect(options.profileName == "supplier")
            #expect(options.dialect.separator == .tab && options.dialect.encoding == .windows1250)
            let headers: HTTPFields = [.contentType: "application/x-ndjson"]
            let (other, json) = try await post(client, "?profile=supplier", [], headers)
            #expect(other.status == .unprocessableContent && json["parameter"] == .string("profile"))
            #expect(json["detail"] == .string("profile “supplier” is for csv, but the body is ndjson"))
            #expect(importer.count == 1)
        }
    }

    @Test(
        "The format follows from the media type, and other types are refused",
        arguments: [
            ("text/csv", .csv), ("Text/CSV; charset=utf-8", .csv), ("text/tab-separated-values", .csv),
            ("application/ndjson", .ndjson), ("application/x-ndjson", .ndjson), ("application/xml", .xml),
            ("text/xml", .xml), ("application/json", nil), ("text/plain", nil),
        ] as [(String, ImportOptions.Format?)]
    )
    func formats(type: String, format: ImportOptions.Format?) async throws {
        let importer = RecordingImporter()
        try await withServer(importer) { client in
            let (response, json) = try await post(client, "", [], [.contentType: type])
            #expect(importer.last?.format == format)
            #expect(response.status == (format == nil ? .unsupportedMediaType : .ok))
            guard format == nil else { return }
            #expect(json["detail"] == .string("the body must be CSV, NDJSON or XML"))
            #expect(
                json["allowed"]?.elements?.map(\.string) == [
                    "application/ndjson", "application/x-ndjson", "application/xml", "text/csv",
                    "text/tab-separated-values", "text/xml",
                ]
            )
        }
    }

    @Test("A body with gzip is decompressed, one without is not, and a file that is not gzip is refused")
    func compression() async throws {
        let importer = RecordingImporter()
        try await withServer(importer) { client in
            let text = Array("sku,name\na,A\n".utf8)
            let gzip = try #require(Gzip.compress(text))
            let (response, _) = try await post(client, "", gzip, [.contentEncoding: "gzip"])
            #expect(response.status == .ok)
            #expect(importer.files.withLock { $0 } == [text])
            let (plain, _) = try await post(client, "", text, [.contentEncoding: "gzip"])
            #expect((400..<500).contains(plain.status.code))
            let (other, json) = try await post(client, "", text, [.contentEncoding: "br"])
            #expect(other.status == .unsupportedMediaType)
            #expect(json["detail"]?.string?.hasSuffix(", or with gzip") == true)
        }
    }

    @Test("At most 1,000 rejected rows are listed, also with the reason why nothing was imported")
    func rejections() async throws {
        for (count, listed) in [(1000, 1000), (1001, 1000)] {
            try await withServer(RecordingImporter(rejections: count)) { client in
                let (response, json) = try await post(client)
                #expect(response.status == .ok)
                #expect(json["rejects"]?.elements?.count == listed)
                #expect(json["rejects"]?.elements?.last?["line"] == .number("\(listed)"))
            }
        }
        let invalid = CatalogError.unprocessable(field: "file", detail: "d")
        for importer in [
            RecordingImporter(rejections: 2, failure: invalid), RecordingImporter(rejections: 2, refusal: invalid),
        ] {
            try await withServer(importer) { client in
                let (response, json) = try await post(client)
                #expect(response.status == .unprocessableContent)
                #expect(json["detail"] == .string("d") && json["parameter"] == .string("file"))
                #expect(json["rejects"]?.elements?.count == 2)
                #expect(response.headers[.connection] == "close")
            }
        }
        try await withServer(RecordingImporter(rejections: 2, failure: .conflict("d"))) { client in
            let (response, json) = try await post(client)
            #expect(response.status == .conflict && json["rejects"] == nil)
            #expect(response.headers[.connection] == "close")
        }
    }

    private static func key(_ key: String) -> HTTPFields { [HTTPField.Name("Idempotency-Key")!: key] }

    @Test(
        "A repeated import returns the first response, another file or query is an error, and a dry run is not recorded"
    )
    func repeats() async throws {
        let importer = RecordingImporter()
        try await withServer(importer) { client in
            let (dry, _) = try await post(client, "?dry_run=true", [1], Self.key("k"))
            #expect(dry.status == .ok && importer.count == 1)
            let (first, _) = try await post(client, "", [1, 2], Self.key("k"))
            let (again, _) = try await post(client, "", [1, 2], Self.key("k"))
            #expect(first.status == .ok && again.status == .ok && importer.count == 2)
            #expect(again.body == first.body)
            #expect(again.headers[.contentType] == "application/json" && again.headers[.cacheControl] == "no-store")
            for (query, body) in [("", [1, 3]), ("", [1]), ("?prune=true", [1, 2])] as [(String, [UInt8])] {
                let (other, json) = try await post(client, query, body, Self.key("k"))
                #expect(other.status == .unprocessableContent, "\(query)")
                #expect(json["type"] == .string("/problems/idempotency-key-reused"))
            }
            let (second, _) = try await post(client, "", [1, 2], Self.key("l"))
            #expect(second.status == .ok && importer.count == 3)
        }
    }

    @Test("An internal error of an import is logged with its text, which the response does not show")
    func faultsAreObserved() async throws {
        let failures = Failures()
        let catalog = InMemoryCatalog(collate: collator)
        _ = try await catalog.put(Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!))
        let api = CatalogAPI(
            catalog: catalog.storage,
            importer: RecordingImporter(failure: .fault("secret text")),
            key: DeploymentKey(Array("test".utf8)),
            verifier: TokenVerifier(keys: TokenKeys(secrets: [TestAPI.secret])),
            live: LiveHub(pages: catalog, versions: catalog, source: nil),
            observer: Observer { failures.receive($0) }
        )
        try await TestAPI.run(api) { client in
            let (response, json) = try await post(client)
            #expect(response.status == .internalServerError)
            #expect(json["type"] == .string("/problems/fault") && !json.text.contains("secret"))
        }
        #expect(failures.all.withLock { $0 } == ["secret text"])
    }

    private final class Failures: Sendable {
        let all = Mutex<[String]>([])

        func receive(_ observation: HTTPObservation) {
            if case .requestFailed(_, let detail) = observation { all.withLock { $0.append(detail) } }
        }
    }
}
