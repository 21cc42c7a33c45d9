internal import Synchronization

/// A resource that clients share within limits: slots, streams or bytes. Work that exceeds a limit is refused; it never waits.
package final class LimitedResource: Sendable {
    private let use: Mutex<ResourceUse>
    private let refusal: String

    /// - Parameters:
    ///   - total: the maximum amount of all clients together.
    ///   - anonymous: the maximum amount of all clients without a token together.
    ///   - perClient: the maximum amount of each client.
    ///   - refusal: the reason for a client at its own limit.
    package init(total: Int = .max, anonymous: Int = .max, perClient: Int = .max, refusal: String = "") {
        use = Mutex(ResourceUse(total: total, anonymous: anonymous, perClient: perClient))
        self.refusal = refusal
    }

    /// The amount in use.
    package var amount: Int { use.withLock { $0.total } }

    /// Returns a permit for an amount of the resource.
    ///
    /// - Parameter client: nil for work that only the total limits.
    /// - Throws: `tooMany` at the client's own limit; `unavailable` at the limit of all.
    package func permit(_ amount: Int = 1, for client: Client? = nil) throws(CatalogError) -> Permit {
        try take(amount, for: client)
        return Permit(self, amount, client)
    }

    /// Checks whether a permit would be granted now.
    ///
    /// - Throws: as `permit`.
    package func check(for client: Client? = nil) throws(CatalogError) {
        try refuse(use.withLock { $0.excess(of: 1, for: client) })
    }

    fileprivate func take(_ amount: Int, for client: Client?) throws(CatalogError) {
        try refuse(use.withLock { $0.take(amount, for: client) })
    }

    fileprivate func giveBack(_ amount: Int, from client: Client?) {
        use.withLock { $0.giveBack(amount, from: client) }
    }

    private func refuse(_ excess: ResourceUse.Excess?) throws(CatalogError) {
        switch excess {
        case .client: throw .tooMany(refusal)
        case .total: throw .unavailable
        case nil: return
        }
    }
}

/// The amount of a limited resource that some work holds. It is returned once: by `release()`, or with the last reference.
package final class Permit: Sendable {
    private let resource: LimitedResource
    private let amount: Atomic<Int>
    private let client: Client?

    fileprivate init(_ resource: LimitedResource, _ amount: Int, _ client: Client?) {
        self.resource = resource
        self.amount = Atomic(amount)
        self.client = client
    }

    deinit { release() }

    /// Takes a further amount.
    ///
    /// - Throws: as `LimitedResource.permit`.
    package func add(_ more: Int) throws(CatalogError) {
        try resource.take(more, for: client)
        amount.add(more, ordering: .relaxed)
    }

    /// Returns the amount to the resource. Further calls have no effect.
    package func release() {
        let held = amount.exchange(0, ordering: .relaxed)
        if held > 0 { resource.giveBack(held, from: client) }
    }
}
