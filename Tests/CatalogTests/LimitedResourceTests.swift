import Ordering
import TestSupport
import Testing

@testable import Catalog

@Suite("Limited resources") struct LimitedResourceTests {
    private static let user = Client.user(UserID("ann")!)
    private static let other = Client.user(UserID("bob")!)

    @Test("Taking fails at the limit, and giving back frees the amount")
    func totalIsLimited() {
        var use = ResourceUse(total: 2, anonymous: .max, perClient: .max)
        #expect(use.take(1, for: nil) == nil)
        #expect(use.take(1, for: nil) == nil)
        #expect(use.take(1, for: nil) == .total)
        #expect(use.take(0, for: nil) == nil)
        use.giveBack(1, from: nil)
        #expect(use.take(2, for: nil) == .total)
        #expect(use.take(1, for: nil) == nil)
        #expect(use.total == 2)
    }

    @Test("A client's own limit is reported before the limit of all")
    func clientsLimitComesFirst() {
        var use = ResourceUse(total: 3, anonymous: .max, perClient: 2)
        #expect(use.take(2, for: Self.user) == nil)
        #expect(use.take(1, for: Self.user) == .client)
        #expect(use.take(2, for: Self.other) == .total)
        #expect(use.take(1, for: Self.other) == nil)
        #expect(use.take(1, for: Self.user) == .client)
        #expect(use.excess(of: 1, for: .local) == .total)
    }

    @Test("Clients without a token have a limit together, and leave the rest to users")
    func anonymousClientsAreLimitedTogether() {
        var use = ResourceUse(total: 10, anonymous: 3, perClient: 2)
        #expect(use.take(2, for: .address([127, 0, 0, 1])) == nil)
        #expect(use.take(2, for: .local) == .total)
        #expect(use.take(1, for: .local) == nil)
        #expect(use.take(2, for: Self.user) == nil)
        use.giveBack(1, from: .address([127, 0, 0, 1]))
        #expect(use.take(1, for: .local) == nil)
    }

    @Test("Amounts never exceed a limit, and a refusal takes nothing")
    func limitsHold() {
        let clients: [Client?] = [nil, Self.user, Self.other, .local, .address([10, 0, 0, 1])]
        let (total, anonymous, perClient) = (40, 20, 15)
        var use = ResourceUse(total: total, anonymous: anonymous, perClient: perClient)
        var held = [Int](repeating: 0, count: clients.count)
        var random = SeededGenerator(seed: 5)
        for _ in 0..<5000 {
            let index = Int.random(in: 0..<clients.count, using: &random)
            let amount = Int.random(in: 0...9, using: &random)
            if Bool.random(using: &random) {
                let returned = min(amount, held[index])
                use.giveBack(returned, from: clients[index])
                held[index] -= returned
            } else {
                let isOverOwn = index > 0 && held[index] + amount > perClient
                let isOverAnonymous = index > 2 && held[3] + held[4] + amount > anonymous
                let isOverTotal = held.reduce(0, +) + amount > total
                let expected: ResourceUse.Excess? =
                    isOverOwn ? .client : isOverAnonymous || isOverTotal ? .total : nil
                #expect(use.take(amount, for: clients[index]) == expected)
                if expected == nil { held[index] += amount }
            }
            #expect(use.total == held.reduce(0, +))
        }
    }

    @Test("A permit returns its amount once: when it is released, or with its last reference")
    func permitsReturnOnce() throws {
        let resource = LimitedResource(total: 10)
        let other = try resource.permit(3)
        do {
            let permit = try resource.permit()
            try permit.add(4)
            #expect(resource.amount == 8)
            permit.release()
            permit.release()
            #expect(resource.amount == 3)
        }
        #expect(resource.amount == 3)
        _ = try resource.permit(7)
        #expect(resource.amount == 3)
        other.release()
        #expect(resource.amount == 0)
    }

    @Test("A refused permit says which limit was reached, and a check takes nothing")
    func refusalsNameTheLimit() throws {
        let resource = LimitedResource(total: 2, perClient: 1, refusal: "one each")
        try resource.check(for: Self.user)
        let first = try resource.permit(for: Self.user)
        #expect(throws: CatalogError.tooMany("one each")) { try resource.permit(for: Self.user) }
        #expect(throws: CatalogError.tooMany("one each")) { try first.add(1) }
        #expect(throws: CatalogError.tooMany("one each")) { try resource.check(for: Self.user) }
        let second = try resource.permit(for: Self.other)
        #expect(throws: CatalogError.unavailable) { try resource.check() }
        #expect(throws: CatalogError.unavailable) { try resource.permit(for: .local) }
        withExtendedLifetime((first, second)) {}
    }
}
