import Foundation
import Platform
import Testing
import Tracing

@testable import Telemetry

@Suite(.timeLimit(.minutes(15))) struct SpanEncoderTests {
    private static let encoder = SpanEncoder(resource: [("service.name", "shop")], version: "1.2.3")

    private static func text(_ spans: [FinishedSpan]) -> String {
        String(decoding: encoder.encode(spans), as: UTF8.self)
    }

    @Test("A request has exactly the bytes of the OTLP format")
    func hasTheFormat() {
        var child = FinishedSpan.test(3, parent: 2, name: "ShelfLookup.versions")
        child.kind = .client
        child.attributes = ["db.system.name": "postgresql"]
        child.status = SpanStatus(code: .error)
        let expected =
            #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"#
            + #""scopeSpans":[{"scope":{"name":"aisle","version":"1.2.3"},"spans":["#
            + #"{"traceId":"0000000000000abc0000000000000001","spanId":"0000000000000002","flags":3,"name":"GET /v1/stores","#
            + #""kind":2,"startTimeUnixNano":"1700000000000000001","endTimeUnixNano":"1700000000000002000"},"#
            + #"{"traceId":"0000000000000abc0000000000000001","spanId":"0000000000000003","parentSpanId":"0000000000000002","#
            + #""flags":3,"name":"ShelfLookup.versions","kind":3,"startTimeUnixNano":"1700000000000000001","#
            + #""endTimeUnixNano":"1700000000000002000","attributes":[{"key":"db.system.name","value":{"stringValue":"postgresql"}}],"#
            + #""status":{"code":2}}]}]}]}"#
        #expect(Self.text([.test(), child]) == expected)
    }

    @Test(
        "A value of every type is written",
        arguments: [
            (.int32(-5), #"{"intValue":"-5"}"#), (.int64(.min), #"{"intValue":"-9223372036854775808"}"#),
            (.int64(0), #"{"intValue":"0"}"#), (.bool(true), #"{"boolValue":true}"#),
            (.double(0.5), #"{"doubleValue":0.5}"#),
            (.double(.infinity), #"{"doubleValue":"Infinity"}"#), (.double(.nan), #"{"doubleValue":"NaN"}"#),
            (.string("a\"\\\n\u{1F}é🍎"), #"{"stringValue":"a\"\\\u000a\u001fé🍎"}"#),
            (.int64Array([1, 2]), #"{"arrayValue":{"values":[{"intValue":"1"},{"intValue":"2"}]}}"#),
            (.stringArray([]), #"{"arrayValue":{"values":[]}}"#),
        ] as [(SpanAttribute, String)]
    )
    func writesValues(value: SpanAttribute, expected: String) {
        var span = FinishedSpan.test()
        span.attributes.set("k", value: value)
        #expect(Self.text([span]).contains(#""attributes":[{"key":"k","value":"# + expected + "}]"))
    }

    @Test("Events, links and the state of other vendors are part of valid JSON")
    func writesEverything() throws {
        var context = ServiceContext.topLevel
        context.traceParent = TraceParent(trace: TraceID(high: 5, low: 6)!, span: SpanID(7)!, isSampled: false)
        var span = FinishedSpan.test(name: "quoted \"name\"")
        span.position = TraceParent(
            trace: span.position.trace,
            span: span.position.span,
            isSampled: true,
            isRandom: false,
            state: "vendor=\"x\""
        )
        span.events = [SpanEvent(name: "e", attributes: ["a": 1])]
        span.links = [
            SpanLink(context: context, attributes: ["b": true]), SpanLink(context: .topLevel, attributes: [:]),
        ]
        span.status = SpanStatus(code: .ok, message: "a\tb")
        let text = Self.text([span, .test(9)])
        let json = try JSONSerialization.jsonObject(with: Data(text.utf8))
        #expect((json as? [String: Any])?.count == 1)
        #expect(text.contains(#""traceState":"vendor=\"x\"""#))
        #expect(text.contains(#""links":[{"traceId":"00000000000000050000000000000006","spanId":"0000000000000007","#))
        #expect(text.components(separatedBy: #""key":"b""#).count == 2)
        #expect(text.contains(#""status":{"code":1,"message":"a\u0009b"}"#))
        #expect(text.contains(#""flags":1,"#))
    }

    @Test("Steps become children with names, attributes and times within the span")
    func writesSteps() {
        let origin = ContinuousClock.now
        func step(_ kind: StepRecorder.Step.Kind, _ name: String, at start: Int, failure: String? = nil)
            -> StepRecorder.Step
        {
            .init(
                kind,
                name,
                start: origin + .nanoseconds(start),
                end: origin + .nanoseconds(start + 10),
                failure: failure
            )
        }
        var span = FinishedSpan.test()
        span.fields = [("http.request.method", "GET")]
        span.steps = [
            step(.wait, "writes", at: -5), step(.preparation, "A.b", at: 10),
            step(.statement, "A.b", at: 20, failure: "23505"),
            step(.rendering, "page", at: 30),
        ]
        span.origin = origin
        let children = span.children
        #expect(children.map(\.name) == ["wait writes", "prepare A.b", "A.b", "render page"])
        #expect(children.map(\.kind) == [.internal, .client, .client, .internal])
        #expect(children.map { $0.start - span.start } == [0, 10, 20, 30])
        #expect(children.map { $0.end - span.start } == [5, 20, 30, 40])
        #expect(children.allSatisfy { $0.parent == span.position.span && $0.position.trace == span.position.trace })
        #expect(Set(children.map(\.position.span) + [span.position.span]).count == 5)
        #expect(children.map(\.status?.code) == [nil, nil, .error, nil])
        let text = Self.text([span])
        #expect(text.components(separatedBy: #""parentSpanId":"0000000000000002""#).count == 5)
        #expect(text.contains(#""attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}}]"#))
        #expect(
            text.contains(#"{"key":"db.query.summary","value":{"stringValue":"A.b"}},{"key":"error.type","value":"#)
        )
        #expect(text.contains(#"{"key":"aisle.lane","value":{"stringValue":"writes"}}"#))
    }

    @Test("A request without spans is valid, too") func writesNoSpans() throws {
        #expect(Self.text([]).hasSuffix(#""spans":[]}]}]}"#))
    }
}
