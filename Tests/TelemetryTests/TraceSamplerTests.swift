import Platform
import Testing

@testable import Telemetry

@Suite(.timeLimit(.minutes(15))) struct TraceSamplerTests {
    private static func parent(isSampled: Bool) -> TraceParent {
        TraceParent(trace: TraceID(high: 1, low: 2)!, span: SpanID(3)!, isSampled: isSampled)
    }

    @Test(
        "A sampler by parent follows the caller, another one does not",
        arguments: [
            ("always_on", [true, true, true]), ("always_off", [false, false, false]),
            ("traceidratio", [false, false, false]), ("parentbased_always_on", [true, true, false]),
            ("parentbased_always_off", [false, true, false]), ("parentbased_traceidratio", [false, true, false]),
        ]
    )
    func followsParents(name: String, expected: [Bool]) throws {
        let sampler = try #require(TraceSampler(name: name, ratio: 0))
        #expect(sampler.name == name)
        let parents = [nil, Self.parent(isSampled: true), Self.parent(isSampled: false)]
        #expect(parents.map { sampler.isSampled(TraceID(high: 1, low: 2)!, parent: $0) } == expected)
    }

    @Test("A sampler by ratio chooses this fraction of the generated ids, and includes those of a smaller ratio")
    func choosesByRatio() throws {
        let ids = TraceIDGenerator()
        let traces = (0..<20_000).map { _ in ids.trace() }
        let (tenth, half) = (TraceSampler(.ratio(0.1)), TraceSampler(.ratio(0.5)))
        #expect(abs(traces.count { tenth.isSampled($0, parent: nil) } - 2000) < 300)
        #expect(abs(traces.count { half.isSampled($0, parent: nil) } - 10_000) < 600)
        #expect(traces.allSatisfy { !tenth.isSampled($0, parent: nil) || half.isSampled($0, parent: nil) })
        #expect(traces.allSatisfy { TraceSampler(.ratio(1)).isSampled($0, parent: nil) })
        #expect(traces.allSatisfy { !TraceSampler(.ratio(0)).isSampled($0, parent: nil) })
    }

    @Test("An unknown sampler has no name") func rejectsUnknownNames() {
        for name in ["", "always", "ALWAYS_ON", "parentbased", "parentbased_jaeger_remote", "xray"] {
            #expect(TraceSampler(name: name, ratio: 1) == nil)
        }
    }

    @Test("Generated ids differ, also between generators") func idsDiffer() {
        let generators = [TraceIDGenerator(), TraceIDGenerator()]
        let traces = generators.flatMap { generator in (0..<10_000).map { _ in generator.trace() } }
        let spans = generators.flatMap { generator in (0..<10_000).map { _ in generator.span() } }
        #expect(Set(traces).count == 20_000)
        #expect(Set(spans).count == 20_000)
        #expect(Set(traces.map(\.high)).count == 20_000)
        #expect(Set(traces.map(\.low)).count == 20_000)
    }
}
