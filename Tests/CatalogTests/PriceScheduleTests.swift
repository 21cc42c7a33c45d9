import Catalog
import Ordering
import Testing

/// Which price is current at any time.
@Suite("Price schedules") struct PriceScheduleTests {
    private func time(_ second: Int) -> Timestamp { Timestamp(microseconds: 0).adding(seconds: Int64(second)) }

    private func promotion(
        _ id: String,
        _ price: Int64,
        from start: Int? = nil,
        until end: Int? = nil,
        priority: Int32 = 0
    ) -> Promotion {
        Promotion(
            PriceID(id)!,
            priceMinor: price,
            startsAt: start.map(time),
            endsAt: end.map(time),
            priority: priority
        )
    }

    @Test("A promotion applies from its first moment until just before its end")
    func interval() {
        let schedule = PriceSchedule(basePriceMinor: 299, promotions: [promotion("week", 249, from: 10, until: 20)])
        for (second, price) in [(9, 299), (10, 249), (19, 249), (20, 299)] as [(Int, Int64)] {
            #expect(schedule.prices(at: time(second)).price == price, "at \(second)")
            #expect(schedule.prices(at: time(second)).regular == (price == 249 ? 299 : nil), "at \(second)")
        }
        #expect(schedule.changes(after: time(0), through: time(20)) == [time(10), time(20)])
        #expect(schedule.changes(after: time(10), through: time(19)) == [])
    }

    @Test("The priority decides first, then the lower price, the later start and the smaller id")
    func precedence() {
        let inOrder = [
            promotion("z", 290, priority: 1), promotion("y", 100, from: 2), promotion("x", 100, from: 1),
            promotion("b", 100), promotion("c", 100), promotion("a", 200, from: 3), promotion("a", 1, priority: -1),
        ]
        for (index, first) in inOrder.enumerated() {
            for (other, second) in inOrder.enumerated() {
                #expect(first.precedes(second) == (index < other), "\(index) and \(other)")
            }
            let rest = PriceSchedule(basePriceMinor: 300, promotions: inOrder[index...].reversed())
            #expect(rest.promotion(at: time(5)) == first)
        }
    }

    @Test("A promotion that is not below the base price does not apply", arguments: [299, 300] as [Int64])
    func promotionsNotBelow(price: Int64) {
        let schedule = PriceSchedule(
            basePriceMinor: 299,
            promotions: [promotion("high", price, priority: 1), promotion("low", 298)]
        )
        #expect(schedule.prices(at: time(0)) == .init(price: 298, regular: 299))
        #expect(schedule.promotion(at: time(0))?.id == PriceID("low"))
    }

    @Test("A product without a base price has no price, and its promotions do not apply")
    func noBasePrice() {
        var schedule = PriceSchedule(basePriceMinor: nil, promotions: [promotion("week", 249)])
        #expect(schedule.prices(at: time(0)) == .init(price: nil, regular: nil))
        schedule.basePrices = [.init(PriceID("new")!, priceMinor: 300, startsAt: time(5))]
        #expect(schedule.prices(at: time(4)) == .init(price: nil, regular: nil))
        #expect(schedule.prices(at: time(5)) == .init(price: 249, regular: 300))
    }

    @Test("A scheduled base price replaces the one before, and may decide whether a promotion applies")
    func scheduledBasePrices() {
        let schedule = PriceSchedule(
            basePriceMinor: 299,
            basePrices: [
                .init(PriceID("c")!, priceMinor: nil, startsAt: time(30)),
                .init(PriceID("a")!, priceMinor: 319, startsAt: time(10)),
                .init(PriceID("b")!, priceMinor: 199, startsAt: time(20)),
                .init(PriceID("c")!, priceMinor: 1, startsAt: time(20)),
            ],
            promotions: [promotion("always", 249)]
        )
        let expected: [(Int, Int64?, Int64?)] = [
            (9, 249, 299), (10, 249, 319), (19, 249, 319), (20, 199, nil), (30, nil, nil),
        ]
        for (second, price, regular) in expected {
            #expect(schedule.prices(at: time(second)) == .init(price: price, regular: regular), "at \(second)")
        }
    }

    @Test("A start or an end that changes no price is not a change")
    func silentBoundaries() {
        let schedule = PriceSchedule(
            basePriceMinor: 299,
            promotions: [
                promotion("long", 249, from: 10, until: 40), promotion("weaker", 260, from: 20, until: 30),
                promotion("next", 249, from: 40, until: 50), promotion("empty", 1, from: 60, until: 60),
            ]
        )
        #expect(schedule.changes(after: time(0), through: time(100)) == [time(10), time(50)])
        #expect(schedule.nextChange(after: time(0)) == time(10))
        #expect(schedule.nextChange(after: time(10)) == time(50))
        #expect(schedule.nextChange(after: time(50)) == nil)
    }

    @Test("Random schedules have the prices of a naive search, at each moment", arguments: 0..<200 as Range<UInt64>)
    func randomSchedules(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func moment() -> Int? { Bool.random(using: &generator) ? Int.random(in: 0...12, using: &generator) : nil }
        var schedule = PriceSchedule(basePriceMinor: Bool.random(using: &generator) ? 5 : nil)
        for number in 0..<Int.random(in: 0...3, using: &generator) {
            schedule.basePrices.append(
                .init(
                    PriceID("b\(number)")!,
                    priceMinor: Bool.random(using: &generator) ? .random(in: 2...8, using: &generator) : nil,
                    startsAt: time(.random(in: 0...12, using: &generator))
                )
            )
        }
        for number in 0..<Int.random(in: 0...5, using: &generator) {
            schedule.promotions.append(
                promotion(
                    "p\(number)",
                    .random(in: 1...8, using: &generator),
                    from: moment(),
                    until: moment(),
                    priority: .random(in: 0...1, using: &generator)
                )
            )
        }
        let found = (-1...13).map { schedule.prices(at: time($0)) }
        #expect(found == (-1...13).map { naivePrices(schedule, at: time($0)) })
        let changes = (0...13).filter { found[$0 + 1] != found[$0] }
        #expect(schedule.changes(after: time(-1), through: time(13)) == changes.map(time))
        for second in -1...13 {
            #expect(schedule.nextChange(after: time(second)) == changes.first { $0 > second }.map(time))
        }
    }

    /// The prices, found by comparing each promotion in force with every other one.
    private func naivePrices(_ schedule: PriceSchedule, at time: Timestamp) -> PriceRevision.Prices {
        var base = schedule.basePriceMinor
        for price in schedule.basePrices.sorted(by: { ($0.startsAt, $1.id) < ($1.startsAt, $0.id) }) {
            if price.startsAt <= time { base = price.priceMinor }
        }
        guard let base else { return .init(price: nil, regular: nil) }
        /// The promotion with the largest rank applies.
        func rank(_ promotion: Promotion) -> [Int64] {
            [Int64(promotion.priority), -promotion.priceMinor, promotion.startsAt?.microseconds ?? .min]
        }
        let candidates = schedule.promotions.filter { promotion in
            promotion.priceMinor < base && (promotion.startsAt.map { time >= $0 } ?? true)
                && (promotion.endsAt.map { time < $0 } ?? true)
        }
        let best = candidates.first { one in
            candidates.allSatisfy { other in
                rank(other).lexicographicallyPrecedes(rank(one)) || (rank(other) == rank(one) && one.id <= other.id)
            }
        }
        return best.map { .init(price: $0.priceMinor, regular: base) } ?? .init(price: base, regular: nil)
    }
}
