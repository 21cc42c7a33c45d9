internal import CatalogJSON
internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

extension CatalogAPI {
    func write(
        _ route: Route,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        switch route {
        case .imports(let store): return try await importFile(store, target, request, caller)
        case .orderDiff(let store, let shelf): return try await diffFromList(store, shelf, target, request, caller)
        case .listDiff: return try await diffOfLists(target, request, caller)
        case .order(let store, let shelf):
            return try await editOrder(store, shelf, target, request, caller, OrderEdit.whole)
        case .orderMoves(let store, let shelf):
            return try await editOrder(store, shelf, target, request, caller, OrderEdit.moves)
        case .orderUndo(let store, let shelf):
            return try await editOrder(store, shelf, target, request, caller, OrderEdit.undo)
        case .shelfMoves(let store): return try await moveShelves(store, target, request, caller)
        case .purchases(let store): return try await addPurchases(store, target, request, caller)
        case .prices(let store): return try await setPrices(store, target, request, caller)
        case .demoTokens: return try await demoToken(target, request)
        case .demoStorm(let store): return try await demoStorm(store, target, request)
        default: try target.allow()
        }
        switch (route, request.method) {
        case (.store(let key), _):
            let store = try Store(key: key, body: try await body(request))
            let created = try await catalog.put(store)
            return answer(created, request, document { store.write(to: &$0) })
        case (.shelf(let store, let key), .put):
            return try await put(try Shelf(key: key, body: try await body(request)), store, request)
        case (.shelf(let store, let key), .patch):
            let patch = try await body(request, types: Self.patchTypes)
            return try await retryingConflicts {
                let state = try await catalog.shelf(store, key).state
                let merged = try reread(document { state.write(to: &$0) }).merging(patch)
                return try await put(try Shelf(key: key, body: merged), store, request, replacing: state.version)
            }
        case (.shelf(let store, let key), .delete):
            try await catalog.remove(shelf: key, from: store)
            return Response(status: .noContent)
        case (.product(let store, let sku), .put):
            let found = try await catalog.store(store)
            return try await put(
                try Product(sku: sku, currency: found.currency, body: try await body(request)),
                found,
                request
            )
        case (.product(let store, let sku), .patch):
            let patch = try await body(request, types: Self.patchTypes)
            return try await retryingConflicts {
                let placed = try await catalog.product(store, sku)
                let presentation = ProductPresentation(store: placed.store)
                let merged = try reread(document { presentation.write(placed.product, to: &$0) }).merging(patch)
                let product = try Product(sku: sku, currency: placed.store.currency, body: merged)
                return try await put(product, placed.store, request, replacing: placed.product.modifiedAt)
            }
        case (.product(let store, let sku), .delete):
            try await catalog.remove(product: sku, from: store)
            return Response(status: .noContent)
        case (.placement(let store, let shelf, let sku), .put):
            let bytes = try await bodyBytes(request, types: nil, bound: options.bodyBound)
            if !bytes.isEmpty {
                let reader = try BodyReader(try json(of: bytes))
                try reader.end()
            }
            let created = try await catalog.place(sku, on: shelf, in: store)
            return Response(status: created ? .created : .noContent)
        case (.placement(let store, let shelf, let sku), _):
            try await catalog.unplace(sku, from: shelf, in: store)
            return Response(status: .noContent)
        default:
            throw Problem(.methodNotAllowed, "\(request.method.rawValue) does not apply here")
        }
    }

    static let patchTypes = ["application/merge-patch+json", "application/json"]

    /// A patch is read, merged and written; where somebody else wrote in between, it is done again.
    private func retryingConflicts(_ body: () async throws -> Response) async throws -> Response {
        for _ in 0..<5 {
            do { return try await body() } catch CatalogError.conflict { continue }
        }
        return try await body()
    }

    /// Our own document as a value, to merge a patch into.
    private func reread(_ document: [UInt8]) throws(CatalogError) -> JSONValue {
        do { return try JSONReader.parse(document) } catch { throw .fault("our own document: \(error.detail)") }
    }

    private func put(
        _ shelf: Shelf,
        _ store: CatalogKey,
        _ request: Request,
        replacing expected: Int64? = nil
    ) async throws -> Response {
        let created = try await catalog.put(shelf, in: store, replacing: expected)
        let head = try await catalog.shelf(store, shelf.key)
        return answer(created, request, document { head.state.write(to: &$0) })
    }

    private func put(
        _ product: Product,
        _ store: Store,
        _ request: Request,
        replacing expected: Timestamp? = nil
    ) async throws -> Response {
        let created = try await catalog.put(product, in: store.key, pricedIn: store.currency, replacing: expected)
        let placed = try await catalog.product(store.key, product.sku)
        let presentation = ProductPresentation(store: placed.store)
        return answer(
            created,
            request,
            document { presentation.write(placed.product, shelves: placed.shelves, to: &$0) }
        )
    }

    private func answer(_ created: Bool, _ request: Request, _ bytes: [UInt8]) -> Response {
        let headers: HTTPFields = created ? [.location: request.uri.path] : [:]
        return json(bytes, status: created ? .created : .ok, headers: headers)
    }

    // MARK: - Imports

    private static let importTypes: [String: ImportOptions.Format] = [
        "text/csv": .csv, "application/x-ndjson": .ndjson, "application/ndjson": .ndjson,
    ]
    /// How many rejected rows an answer names.
    private static let rejectionBound = 1000

    private func importFile(
        _ store: CatalogKey,
        _ target: RequestTarget,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        try target.allow("dry_run", "size_from_name", "on_error", "prune", "currency", "max_new_shelves")
        guard let format = Self.importTypes[mediaType(request) ?? ""] else {
            throw Problem(.unsupportedMediaType, "an import is CSV or NDJSON", allowed: Self.importTypes.keys.sorted())
        }
        try checkCoding(request)
        let currency = try target.value("currency") ?? "EUR"
        guard let currency = Currency(currency) else {
            throw CatalogError.malformed(parameter: "currency", detail: "“\(currency.prefix(16))” is no ISO 4217 code")
        }
        let onError = try target.value("on_error") ?? "skip"
        guard ["skip", "abort"].contains(onError) else {
            throw CatalogError.malformed(
                parameter: "on_error",
                detail: "on_error must be skip or abort",
                allowed: ["skip", "abort"]
            )
        }
        var options = ImportOptions(
            format: format,
            store: store,
            currency: currency,
            readsSizeFromName: try target.flag("size_from_name"),
            abortsOnError: onError == "abort",
            prunes: try target.flag("prune"),
            isRehearsal: try target.flag("dry_run")
        )
        options.isForOneStore = true
        if let text = try target.value("max_new_shelves") {
            guard let limit = Int(text), (0...ImportOptions.greatestNewShelfLimit).contains(limit) else {
                throw CatalogError.malformed(
                    parameter: "max_new_shelves",
                    detail: "max_new_shelves must be a number from 0 to \(ImportOptions.greatestNewShelfLimit)"
                )
            }
            options.newShelfLimit = limit
        }
        // An import holds a connection for as long as its body takes to come: slow ones must not take them all.
        guard imports.enter() else { throw CatalogError.unavailable }
        defer { imports.leave() }
        let prepared = options
        // An import ends when its client leaves, also while the database works.
        return try await request.body.consumeWithCancellationOnInboundClose { body in
            let pieces = BodyPieces(body, pace: self.options.importPace)
            defer { pieces.discard() }
            return try await importBody(pieces, prepared, store, request, caller)
        }
    }

    private func importBody(
        _ pieces: BodyPieces,
        _ options: ImportOptions,
        _ store: CatalogKey,
        _ request: Request,
        _ caller: Caller?
    ) async throws -> Response {
        // An import is told by its bytes, which are known only once they are through.
        // A rehearsal changes nothing, and need not be remembered.
        let call = options.isRehearsal ? nil : try idempotentCall(request, [], caller)
        if var call, let first = try await recallImport(call, store) {
            for try await _ in pieces {}
            call.fingerprint += pieces.digest
            return recorded(try first.answer(to: call))
        }
        var rejections: [ImportRejection] = []
        let summary: ImportSummary
        do {
            summary = try await importer.importFile(
                pieces,
                options,
                onReject: { if rejections.count < Self.rejectionBound { rejections.append($0) } }
            )
        } catch {
            guard case .unprocessable = error else { throw error }
            var problem = Problem(error)
            problem.rejections = rejections
            throw problem
        }
        let bytes = object { json in
            for (name, count) in summary.counts { json.field(name: name, count) }
            json.field("dry_run", options.isRehearsal)
            json.array("warnings", summary.warnings) { $0.string($1) }
            rejections.write(to: &json)
        }
        if var call {
            call.fingerprint += pieces.digest
            try await catalog.record(RecordedAnswer(body: bytes), of: call, in: store)
        }
        return json(bytes)
    }
}

extension CatalogAPI {
    /// The first answer to an import with that key; a store that is not there yet has none.
    private func recallImport(_ call: IdempotentCall, _ store: CatalogKey) async throws -> FirstAnswer? {
        do { return try await catalog.recall(call.key, in: store) } catch CatalogError.notFound {
            return nil
        }
    }
}

extension [ImportRejection] {
    func write(to json: inout JSONText) {
        json.array("rejects", self) { json, rejection in
            json.object { json in
                json.field("line", rejection.line)
                json.field("column", rejection.column)
                json.field("value", rejection.value)
                json.field("reason", rejection.reason)
            }
        }
    }
}
