internal import Catalog
internal import LibPQ

extension CatalogError {
    /// Maps a database error to a domain error.
    init(_ error: any Error) {
        switch error {
        case let error as CatalogError: self = error
        case let error as PostgresError: self.init(postgres: error)
        case is CancellationError: self = .cancelled
        default: self = .fault(String(reflecting: error))
        }
    }

    private init(postgres error: PostgresError) {
        if error.kind == .cancelled {
            self = .cancelled
        } else if error.sqlState == .readOnlyTransaction {
            self = .readOnly
        } else if error.meansUnavailable || error.isRetryable || error.sqlState == .queryCanceled {
            self = .unavailable
        } else if error.sqlState == .uniqueViolation {
            self = .conflict("another request created the same resource at the same time; try again")
        } else if error.isOf("shelf_parent_fkey") || error.isOf("placement_shelf_fkey") {
            self = .conflict("the shelf was changed at the same time; try again")
        } else if error.isOf("placement_product_fkey") {
            self = .conflict("the product was deleted at the same time; try again")
        } else if let state = error.sqlState,
            ["23514", "23502", "54000", "54001"].contains(state.rawValue) || state.classCode == "22"
        {
            // A gap in validation: the API layer should have rejected the value with a better message.
            self = .unprocessable(
                field: error.constraint ?? "",
                detail: "the database rejected a value; report the request_id"
            )
        } else {
            self = .fault(error.debugDescription)
        }
    }
}

extension PostgresError {
    /// Whether a constraint was violated. On a shard, its name ends with the shard's number.
    fileprivate func isOf(_ name: String) -> Bool {
        guard let constraint, constraint.hasPrefix(name) else { return false }
        let rest = constraint.dropFirst(name.count)
        return rest.isEmpty || (rest.first == "_" && rest.dropFirst().allSatisfy(\.isNumber))
    }
}

extension Observer<DatabaseObservation> {
    /// Runs a body, maps its errors to domain errors, and reports notable ones.
    func mappingErrors<T>(_ body: () async throws -> T) async throws(CatalogError) -> T {
        do { return try await body() } catch {
            let mapped = CatalogError(error)
            if let error = error as? PostgresError {
                observe(.databaseError(kind: error.sqlState?.classCode ?? error.kind.rawValue))
                switch mapped {
                case .unavailable, .readOnly: observe(.databaseUnavailable(reason: error.description))
                case .unprocessable:
                    observe(.validationGap(constraint: error.constraint, sqlState: error.sqlState?.rawValue ?? ""))
                default: break
                }
            }
            throw mapped
        }
    }
}
