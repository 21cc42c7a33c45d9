internal import Catalog

extension ImportSummary {
    mutating func clearChanges() {
        (inserted, updated, removedPlacements, removedProducts, storesCreated, shelvesCreated) = (0, 0, 0, 0, 0, 0)
    }

    mutating func add(_ outcome: ImportApplication.Outcome) {
        unchanged += outcome.unchanged
        updated += outcome.updated
        inserted += outcome.inserted
        removedPlacements += outcome.removedPlacements
        removedProducts += outcome.removedProducts
        storesCreated += outcome.storesCreated
        shelvesCreated += outcome.shelvesCreated
    }
}
