/// The outcome of adding purchases.
package struct PurchaseOutcome: Sendable, Hashable {
    /// Told for the first time, of products that the store has.
    package var accepted = 0
    /// Told before: they count once.
    package var repeated = 0
    /// Events of days that are no longer kept. They are refused: nothing would show whether they were counted.
    package var tooOld = 0
    /// Of products that the store does not have; they are kept apart until it has.
    package var unknown = 0
    /// Some of those products, at most 1,000.
    package var unknownSKUs: Set<String> = []

    package static let unknownLimit = 1000

    package init() {}

    package static func += (a: inout PurchaseOutcome, b: PurchaseOutcome) {
        a.accepted += b.accepted
        a.repeated += b.repeated
        a.tooOld += b.tooOld
        a.unknown += b.unknown
        if a.unknownSKUs.count < unknownLimit {
            a.unknownSKUs.formUnion(b.unknownSKUs.prefix(unknownLimit - a.unknownSKUs.count))
        }
    }
}
