import Catalog
import Foundation
import Ordering
import Testing

/// The lowest prices before reductions, and discounts.
@Suite("Price reductions") struct PriceReductionTests {
    private func day(_ day: Int) -> Timestamp { Timestamp(microseconds: 0).adding(days: day) }

    private func history(_ prices: [(day: Int, price: Int64?)]) -> PriceHistory {
        var history = PriceHistory()
        for entry in prices { history.append(entry.price, since: day(entry.day)) }
        return history
    }

    @Test("The same price again adds no entry")
    func repeatedPrices() {
        let history = history([(0, 300), (1, 300), (2, nil), (3, nil), (4, 300)])
        #expect(history.entries.map(\.since) == [day(0), day(2), day(4)])
    }

    @Test("The lowest price is that of the 30 days before, including the price at their beginning")
    func lowestPrice() {
        let history = history([(0, 250), (10, 300), (35, 280), (36, 310)])
        // The price of day 0 ended when the 30 days before day 40 began.
        #expect(history.lowestPrice(before: day(40)) == 280)
        #expect(history.lowestPrice(before: day(39)) == 250)
        #expect(history.lowestPrice(before: day(35)) == 250)
        #expect(history.lowestPrice(before: day(100)) == 310)
        #expect(history.lowestPrice(before: day(0)) == nil)
        #expect(history.isComplete(before: day(30)))
        #expect(!history.isComplete(before: Timestamp(microseconds: day(30).microseconds - 1)))
        #expect(!PriceHistory().isComplete(before: day(30)))
    }

    @Test("A history begins with the first price")
    func firstPrice() {
        let history = history([(0, nil), (35, 300)])
        #expect(history.entries.map(\.since) == [day(35)])
        #expect(!history.isComplete(before: day(64)) && history.isComplete(before: day(65)))
    }

    @Test("Days without a price have no lowest price")
    func noPrice() {
        #expect(history([(0, 300), (1, nil)]).lowestPrice(before: day(40)) == nil)
        #expect(history([(0, 300), (1, nil), (39, 400)]).lowestPrice(before: day(40)) == 400)
    }

    @Test("A reduction considers the prior price that is stated when it starts")
    func statedDuringReductions() {
        func prior(_ stated: Int64?, firstDay: Int) -> Int64? {
            let old = PriceRevision.Prices(price: 300, regular: nil)
            let reduction = PriceReduction.following(
                nil,
                from: old,
                to: .init(price: 250, regular: 300),
                at: day(40),
                history: history([(firstDay, 300)]),
                stated: stated,
                rules: .init()
            )
            let later = PriceReduction.following(
                reduction,
                from: .init(price: 250, regular: 300),
                to: .init(price: 260, regular: 300),
                at: day(41),
                history: history([(firstDay, 300), (40, 250)]),
                stated: 1,
                rules: .init()
            )
            #expect(later == reduction)
            return reduction?.priorPriceMinor
        }
        #expect(prior(280, firstDay: 0) == 280)
        #expect(prior(320, firstDay: 0) == 300)
        #expect(prior(320, firstDay: 20) == 320)
        #expect(prior(nil, firstDay: 20) == 300)
    }

    /// Replays prices, each with its base price, and returns the reduction after each of them.
    private func replay(
        _ prices: [(time: Timestamp, price: Int64?, base: Int64?)],
        _ rules: PriceReduction.Rules
    ) -> [(time: Timestamp, reduction: PriceReduction?)] {
        var (history, reduction) = (PriceHistory(), PriceReduction?.none)
        var old: PriceRevision.Prices?
        return prices.map { entry in
            let new = PriceRevision.Prices(price: entry.price, regular: entry.base == entry.price ? nil : entry.base)
            reduction = .following(reduction, from: old, to: new, at: entry.time, history: history, rules: rules)
            history.append(entry.price, since: entry.time)
            old = new
            return (entry.time, reduction)
        }
    }

    private func reductions(
        _ prices: [(day: Int, price: Int64?, base: Int64?)],
        keepsFirst: Bool = false
    ) -> [PriceReduction?] {
        replay(prices.map { (day($0.day), $0.price, $0.base) }, .init(keepsFirstPriorPrice: keepsFirst)).map(
            \.reduction
        )
    }

    @Test("A reduction has the lowest price of the 30 days before, and keeps it")
    func simpleReduction() {
        let found = reductions([(0, 300, 300), (40, 250, 300), (80, 250, 310), (90, 310, 310)])
        let reduction = PriceReduction(startedAt: day(40), priorPriceMinor: 300)
        #expect(found == [nil, reduction, reduction, nil])
    }

    @Test("A reduction after an interruption starts again, and the earlier reduced price counts")
    func interruption() {
        let found = reductions([(0, 300, 300), (40, 250, 300), (50, 300, 300), (51, 250, 300)])
        #expect(found.last == PriceReduction(startedAt: day(51), priorPriceMinor: 250))
    }

    @Test("A price that falls further starts another reduction, unless the store keeps the first prior price")
    func progressiveReduction() {
        let prices: [(Int, Int64?, Int64?)] = [(0, 300, 300), (40, 250, 300), (50, 200, 300), (60, 220, 300)]
        let (first, second) = (
            PriceReduction(startedAt: day(40), priorPriceMinor: 300),
            PriceReduction(startedAt: day(50), priorPriceMinor: 250)
        )
        #expect(reductions(prices) == [nil, first, second, second])
        #expect(reductions(prices, keepsFirst: true) == [nil, first, first, first])
        let again = reductions(prices + [(61, 210, 300)])
        #expect(again.last == PriceReduction(startedAt: day(61), priorPriceMinor: 200))
    }

    @Test("A product that is new and reduced has no prior price, and one without a price is not reduced")
    func newProducts() {
        let found = reductions([(0, 250, 300), (1, nil, nil), (2, 250, 300)])
        #expect(found.first == PriceReduction(startedAt: day(0), priorPriceMinor: nil))
        #expect(found[1] == nil)
        #expect(found.last == PriceReduction(startedAt: day(2), priorPriceMinor: 250))
    }

    @Test("A stated prior price counts if it is lower, or if the history is too short")
    func statedPrices() {
        let cases: [(Int64?, Bool, Int64?, Int64?)] = [
            (300, true, 280, 280), (300, true, 320, 300), (300, false, 320, 320), (nil, false, 320, 320),
            (nil, true, 320, 320), (300, true, nil, 300), (300, false, nil, 300), (nil, false, nil, nil),
        ]
        for (lowest, isComplete, stated, expected) in cases {
            let found = PriceReduction.priorPrice(lowest, isComplete: isComplete, stated: stated)
            #expect(found == expected, "\(lowest ?? -1) \(isComplete) \(stated ?? -1)")
        }
    }

    @Test("The lowest price of a random history equals that of a daily scan", arguments: 0..<100 as Range<UInt64>)
    func randomHistories(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (history, prices) = (PriceHistory(), [Int64?](repeating: nil, count: 120))
        var start = Int.random(in: 0...40, using: &generator)
        while start < 120 {
            let price = Int.random(in: 0...9, using: &generator) == 0 ? nil : Int64.random(in: 1...9, using: &generator)
            history.append(price, since: day(start))
            for day in start..<120 { prices[day] = price }
            start += Int.random(in: 1...25, using: &generator)
        }
        for end in 0...120 {
            let before = prices[max(0, end - 30)..<end].compactMap(\.self)
            #expect(history.lowestPrice(before: day(end)) == before.min(), "day \(end)")
        }
    }

    /// Prices over time, and the prior prices to expect.
    private struct Example: Decodable {
        struct Options: Decodable { let progressive, age_rule: Bool }
        struct Price: Decodable {
            let from: String
            let price_minor: Int64?
        }
        struct Expectation: Decodable {
            let at: String
            let prior_price_minor: Int64?
        }
        let name: String
        let options: Options
        let base, presented: [Price]
        let expected: [Expectation]
    }

    @Test("Prior prices match the published and constructed examples, apart from documented deviations")
    func goldenCases() throws {
        let url = Bundle.module.url(forResource: "prior-prices", withExtension: "json", subdirectory: "Cases")!
        let examples = try JSONDecoder().decode([Example].self, from: Data(contentsOf: url))
        #expect(examples.count > 70)
        for example in examples {
            func price(_ prices: [Example.Price], at time: Timestamp) -> Int64? {
                prices.last { Timestamp(rfc3339: $0.from)! <= time }?.price_minor
            }
            let times = (example.base + example.presented).map { Timestamp(rfc3339: $0.from)! }
            let start = try #require(example.presented.first.flatMap { Timestamp(rfc3339: $0.from) })
            let states = replay(
                Set(times).sorted().filter { start <= $0 }.map { time in
                    (time, price(example.presented, at: time), price(example.base, at: time))
                },
                .init(
                    keepsFirstPriorPrice: example.options.progressive,
                    countsYoungProducts: example.options.age_rule
                )
            )
            for expectation in example.expected {
                let time = try #require(Timestamp(rfc3339: expectation.at))
                let reduction = states.last { $0.time <= time }?.reduction
                #expect(
                    reduction?.priorPriceMinor == expectation.prior_price_minor,
                    "\(example.name) at \(expectation.at)"
                )
            }
        }
    }

    @Test("Discounts are compared as fractions")
    func discounts() throws {
        #expect(
            Discount(from: 300, to: 300) == nil && Discount(from: nil, to: 1) == nil
                && Discount(from: 1, to: nil) == nil
        )
        #expect(Discount(from: 299, to: 300) == nil)
        // Their quotients are equal as floating-point numbers.
        let more = try #require(Discount(from: 999_999_999_999, to: 500_000_000_000))
        let fewer = try #require(Discount(from: 999_999_999_997, to: 499_999_999_999))
        #expect(fewer < more && !(more < fewer) && fewer != more)
        let third = try #require(Discount(from: 300, to: 200))
        #expect(third == Discount(from: 999_999_999_999, to: 666_666_666_666))
        #expect(third.hashValue == Discount(from: 999_999_999_999, to: 666_666_666_666)?.hashValue)
        let less = try #require(Discount(from: 999_999_999_998, to: 666_666_666_666))
        #expect(less < third && !(third < less) && less != third)
        let whole = try #require(Discount(from: .max, to: 0))
        #expect(third < whole && whole == Discount(from: 1, to: 0))
        #expect(third.isAtLeast(percent: 33) && !third.isAtLeast(percent: 34) && whole.isAtLeast(percent: 100))
    }
}
