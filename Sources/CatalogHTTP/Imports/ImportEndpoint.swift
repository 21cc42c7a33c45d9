internal import Catalog
internal import CatalogImport
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird

/// The endpoint that imports a file of products.
struct ImportEndpoint: EndpointGroup {
    let importer: any CatalogImporting
    let profiles: any ImportProfileStore
    let responses: any ResponseStore
    /// The total time limit of an import.
    let timeLimit: Duration
    /// The minimum transfer rate of the body.
    let pace: ImportPace
    let imports: LimitedResource

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .post,
                "/v1/stores/{store}/imports",
                .scope(.catalogWrite),
                .importProducts,
                timeLimit: timeLimit,
                cost: 100,
                importFile
            )
        ]
    }

    /// The accepted media types, in the order of the API description. Generated clients send the last one.
    static let importTypes: KeyValuePairs<String, ImportOptions.Format> = [
        "application/ndjson": .ndjson, "application/x-ndjson": .ndjson, "application/xml": .xml,
        "text/tab-separated-values": .csv, "text/xml": .xml, "text/csv": .csv,
    ]

    private func importFile(_ call: Call) async throws -> Response {
        let (target, request, store) = (call.target, call.request, try call.parameters.store)
        guard let format = Self.importTypes.first(where: { $0.key == request.mediaType })?.value else {
            throw Problem(
                .unsupportedMediaType,
                "the body must be CSV, NDJSON or XML",
                allowed: Self.importTypes.map(\.key).sorted()
            )
        }
        let isGzip = try BodyLoader.checkCoding(request, allowsGzip: true)
        var options = ImportOptions(
            format: format,
            store: store,
            currency: try Self.currency(target),
            onError: try target.choice("on_error") ?? .skip,
            prunes: try target.flag("prune"),
            createsStores: try target.flag("create_store"),
            isDryRun: try target.flag("dry_run")
        )
        if let name = try target.value("profile") {
            options.profile = try await profiles.profile(named: name)
            options.profileName = name
            guard options.profile.format ?? format == format else {
                throw CatalogError.unprocessable(
                    field: "profile",
                    detail:
                        "profile “\(name)” is for \(options.profile.format!.rawValue), but the body is \(format.rawValue)"
                )
            }
        }
        if try target.flag("size_from_name") { options.profile.readsSizeFromName = true }
        options.rejectsOtherStores = true
        options.confirmsPrune = try target.flag("confirm_prune")
        try Self.readDialect(target, &options.dialect)
        options.rejectedPercentLimit = ImportOptions.defaultRejectedPercentLimit
        if let text = try target.value("max_new_shelves") {
            guard let limit = Int(text), (0...ImportOptions.maximumNewShelfLimit).contains(limit) else {
                throw CatalogError.malformed(
                    parameter: "max_new_shelves",
                    detail: "max_new_shelves must be an integer between 0 and \(ImportOptions.maximumNewShelfLimit)"
                )
            }
            options.newShelfLimit = limit
        }
        if let text = try target.value("max_rejects") {
            guard let percent = ImportOptions.percent(text) else {
                throw CatalogError.malformed(
                    parameter: "max_rejects",
                    detail: "max_rejects must be a percentage between 0 and 100 (got “\(text.prefix(16))”)"
                )
            }
            options.rejectedPercentLimit = percent
        }
        let permit = try imports.permit(for: call.client)
        defer { permit.release() }
        let prepared = options
        do {
            // Cancel the import if the client disconnects, even during database work. This ends the connection, so the response says that.
            var response = try await request.body.consumeWithCancellationOnInboundClose { body in
                let chunks = BodyChunks(body, of: call, pace: pace)
                defer { chunks.discard() }
                return try await importBody(chunks, isGzip: isGzip, prepared, call)
            }
            response.headers[.connection] = "close"
            return response
        } catch {
            guard error is Problem || error is CatalogError else { throw error }
            throw ClosingError(error: error)
        }
    }

    private static func currency(_ target: RequestTarget) throws -> Currency? {
        guard let text = try target.value("currency") else { return nil }
        guard let currency = Currency(text) else {
            throw CatalogError.malformed(
                parameter: "currency",
                detail: "currency must be an ISO 4217 code, such as EUR (got “\(text.prefix(16))”)"
            )
        }
        return currency
    }

    /// Reads the parameters about the form of the file, which take precedence over the profile.
    private static func readDialect(_ target: RequestTarget, _ dialect: inout FileDialect) throws {
        dialect.encoding = try target.choice("encoding") ?? dialect.encoding
        dialect.separator = try target.choice("separator") ?? dialect.separator
        dialect.decimalMark = try target.choice("decimal_mark") ?? dialect.decimalMark
        if let text = try target.value("header_line") {
            let range = FileDialect.headerLineRange
            guard let line = Int(text), range.contains(line) else {
                throw CatalogError.malformed(
                    parameter: "header_line",
                    detail: "header_line must be an integer between \(range.lowerBound) and \(range.upperBound)"
                )
            }
            dialect.headerLine = line
        }
    }

    private func importBody(
        _ chunks: BodyChunks,
        isGzip: Bool,
        _ options: ImportOptions,
        _ call: Call
    ) async throws -> Response {
        let store = try call.parameters.store
        // The fingerprint includes the body's hash, which is known only after the last byte.
        // A dry run changes nothing, so its response is not recorded.
        let once: IdempotentCall<RecordedResponse>? = options.isDryRun ? nil : try call.idempotentCall([])
        if var once, let first = try await recorded(once, store) {
            for try await _ in chunks {}
            once.fingerprint += chunks.digest
            let response = try first.response(to: once)
            return .outcome(response.body, mediaType: response.mediaType)
        }
        var rejections: [ImportRejection] = []
        let summary: ImportSummary
        do throws(CatalogError) {
            let onReject = { (rejection: ImportRejection) in
                if rejections.count < ImportReport.rejectionLimit { rejections.append(rejection) }
            }
            // An option confirms removals.
            let (onProgress, onPrune) = ({ (_: Int) in }, { (_: [ShelfRemoval]) in false })
            summary =
                isGzip
                ? try await importer.importFile(
                    FileContent(chunks, mustBeGzip: true),
                    options,
                    onReject: onReject,
                    onProgress: onProgress,
                    onPrune: onPrune
                )
                : try await importer.importFile(
                    chunks,
                    options,
                    onReject: onReject,
                    onProgress: onProgress,
                    onPrune: onPrune
                )
            if let refusal = summary.refusal { throw refusal }
        } catch {
            guard case .unprocessable = error else { throw error }
            var problem = Problem(error)
            problem.rejections = rejections
            throw problem
        }
        let bytes = ImportReport(summary, isDryRun: options.isDryRun, rejections: rejections).json
        if var once {
            once.fingerprint += chunks.digest
            try await responses.record(RecordedResponse(body: bytes), of: once, in: store)
        }
        return .json(bytes)
    }

    /// Returns the recorded response to an import with this key; nil for a store that does not exist yet.
    private func recorded(
        _ once: IdempotentCall<RecordedResponse>,
        _ store: CatalogKey
    ) async throws -> FirstResponse? {
        do { return try await responses.firstResponse(once.key, in: store) } catch CatalogError.notFound { return nil }
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let importProducts = Operation(
        "importProducts",
        .imports,
        "Import products",
        """
        Imports a file of products. The body is streamed and may have any length. After the first \
        10 seconds, it must average at least 16 KiB per second, and no pause may exceed 10 \
        seconds. An import may take 30 minutes. If the client disconnects, nothing is changed. A \
        body with `Content-Encoding: gzip` is decompressed.

        CSV columns with the names of declared attributes set these, or `attributes.NAME` does. A \
        value that cannot be read leaves the attribute unknown, and is counted.

        Unknown CSV columns are ignored with a warning; NDJSON rows with unknown properties are \
        rejected, unless a profile is given. The rows of XML are its elements `item` and `entry`, \
        or those that the profile names.
        """,
        parameters: [
            "dry_run", "size_from_name", "on_error", "prune", "confirm_prune", "create_store", "currency",
            "max_new_shelves", "max_rejects", "encoding", "separator", "decimal_mark", "header_line", "profile",
            .idempotencyKey,
        ],
        body: .file(ImportEndpoint.importTypes.map(\.key)),
        [200: .json("The result of the import.", "ImportResult")]
    )
}

/// The minimum transfer rate of an import's body.
package struct ImportPace: Sendable {
    /// The minimum average rate, in bytes per second spent waiting for the client.
    package var minimumRate = 16 << 10
    /// The grace period before the rate applies; also the maximum wait for one chunk.
    package var gracePeriod: Duration = .seconds(10)
}
