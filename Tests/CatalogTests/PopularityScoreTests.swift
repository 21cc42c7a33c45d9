import Catalog
import Testing

/// The stored logarithm of popularity and the score of a day.
@Suite(.timeLimit(.minutes(15))) struct PopularityScoreTests {
    private static let day = Popularity.epochDay + 100
    private static let decay = PopularityCount(metric: .decay, halfLifeDays: 14, newcomerBoost: 0, day: nil)

    @Test("A purchase scores 1 on its day, 1/2 after one half-life and 1/4 after two")
    func scoresDecay() {
        let popularity = Popularity(purchases: 1, day: Self.day, halfLifeDays: 14)
        #expect(abs(popularity.score(day: Self.day, count: Self.decay) - 1) < 1e-5)
        #expect(abs(popularity.score(day: Self.day + 14, count: Self.decay) - 0.5) < 1e-5)
        #expect(abs(popularity.score(day: Self.day + 28, count: Self.decay) - 0.25) < 1e-5)
    }

    @Test("The order of two products does not change with time")
    func orderIsStable() {
        let old = Popularity(purchases: 100, day: Self.day, halfLifeDays: 14)
        let recent = Popularity(purchases: 30, day: Self.day + 30, halfLifeDays: 14)
        #expect(old < recent)
        for day in [Self.day + 30, Self.day + 300] {
            #expect(old.score(day: day, count: Self.decay) < recent.score(day: day, count: Self.decay))
        }
    }

    @Test("A product without purchases scores 0 and comes last")
    func nothingScoresZero() {
        #expect(Popularity(purchases: 0, day: Self.day, halfLifeDays: 14) == .none)
        #expect(Popularity.none.score(day: Self.day, count: Self.decay) == 0)
        #expect(Popularity.none < Popularity(purchases: 1e-9, day: 0, halfLifeDays: 1))
    }

    @Test("A sliding window does not decay")
    func windowsDoNotDecay() {
        let week = PopularityCount(metric: .last7Days, halfLifeDays: 14, newcomerBoost: 0, day: Self.day)
        #expect(Popularity(log2: 5).score(day: Self.day + 50, count: week) == 32)
    }
}
