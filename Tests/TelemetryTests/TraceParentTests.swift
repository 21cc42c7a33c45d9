import Platform
import Testing

@Suite(.timeLimit(.minutes(15))) struct TraceParentTests {
    private static let trace = "0af7651916cd43dd8448eb211c80319c"
    private static let span = "b7ad6b7169203331"

    @Test(
        "A valid header is read, and written in version 00",
        arguments: [
            ("00-\(trace)-\(span)-01", true, false, "01"), ("00-\(trace)-\(span)-00", false, false, "00"),
            ("00-\(trace)-\(span)-03", true, true, "03"), ("00-\(trace)-\(span)-02", false, true, "02"),
            // Unknown flags are not passed on.
            ("00-\(trace)-\(span)-ff", true, true, "03"), ("00-\(trace)-\(span)-08", false, false, "00"),
            // A future version begins in the same way.
            ("01-\(trace)-\(span)-01", true, false, "01"), ("fe-\(trace)-\(span)-01-more", true, false, "01"),
        ]
    )
    func readsValidHeaders(text: String, isSampled: Bool, isRandom: Bool, flags: String) throws {
        let parent = try #require(TraceParent(text))
        #expect(parent.trace.text == Self.trace)
        #expect(parent.span.text == Self.span)
        #expect(parent.isSampled == isSampled)
        #expect(parent.isRandom == isRandom)
        #expect(parent.text == "00-\(Self.trace)-\(Self.span)-\(flags)")
    }

    @Test(
        "An invalid header is ignored",
        arguments: [
            "", "-", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-0",
            "00-\(trace)-\(span)-1g",
            "ff-\(trace)-\(span)-01", "FE-\(trace)-\(span)-01", "0-\(trace)-\(span)-001", " 00-\(trace)-\(span)-01",
            "00-\(trace)-\(span)-01 ", "00-\(trace)-\(span)-01-more", "00-\(trace)-\(span)-01, 00-\(trace)-\(span)-01",
            "01-\(trace)-\(span)-01.more", "00_\(trace)_\(span)_01", "00-\(trace.uppercased())-\(span)-01",
            "00-\(trace)-\(span.uppercased())-01", "00-00000000000000000000000000000000-\(span)-01",
            "00-\(trace)-0000000000000000-01", "00-0x\(trace.dropFirst(2))-\(span)-01",
            "00-+\(trace.dropFirst())-\(span)-01",
            "00-é\(trace.dropFirst(2))-\(span)-01", String(repeating: "0", count: 100_000),
            "01-\(trace)-\(span)-01-" + String(repeating: "a", count: 100_000),
        ]
    )
    func ignoresInvalidHeaders(text: String) { #expect(TraceParent(text) == nil) }

    @Test("The state of other vendors is passed on unchanged, unless it is too long or invalid")
    func passesOnState() throws {
        func state(_ text: String) -> String? { TraceParent("00-\(Self.trace)-\(Self.span)-01", state: text)?.state }
        let longest = "a=" + String(repeating: "b", count: TraceParent.stateLimit - 2)
        for text in ["vendor=value", "a=1,b=2, c=3", longest] { #expect(state(text) == text) }
        for text in ["", "vendor", longest + "b", "a=é", "a=\u{1}", "a=\r\nX: y"] {
            #expect(state(text) == nil, "\(text)")
        }
    }
}
