import JSON
import Catalog
import CatalogJSON
import Testing

@Suite("Body reader") struct BodyReaderTests {
    private func reader(_ json: String) throws -> BodyReader { try BodyReader(JSONReader.parse(Array(json.utf8))) }

    /// Returns the field or parameter that an error names.
    private func named(_ body: () throws -> Void) -> String? {
        do { try body() } catch CatalogError.unprocessable(let field, _) {
            return field
        } catch CatalogError.malformed(let parameter, _, _, _) {
            return parameter
        } catch {
            Issue.record("unexpected: \(error)")
        }
        return nil
    }

    @Test("Only an object is a body", arguments: ["[]", "1", "null", "\"a\"", "true"])
    func onlyObjectsAreBodies(json: String) {
        #expect(throws: CatalogError.self) { try self.reader(json) }
    }

    @Test("A text may have exactly as many bytes as allowed")
    func textLimitIsExact() throws {
        var body = try reader(#"{"a":"Käse","b":"Käse"}"#)
        #expect(try body.string("a", bytes: 5) == "Käse")
        #expect(named { _ = try body.string("b", bytes: 4) } == "b")
    }

    @Test("A text with a line break is rejected")
    func controlCharactersAreRejected() throws {
        var body = try reader(#"{"a":"two\nlines"}"#)
        #expect(named { _ = try body.string("a", bytes: 100) } == "a")
    }

    @Test("A blank string counts as missing")
    func blankStringIsMissing() throws {
        var body = try reader(#"{"a":"  ","b":" x "}"#)
        #expect(try body.nonBlankString("a", bytes: 10) == nil)
        #expect(try body.nonBlankString("b", bytes: 10) == "x")
    }

    @Test("Null counts as missing, but `has` reports it")
    func nullIsMissing() throws {
        var body = try reader(#"{"a":null}"#)
        #expect(try body.integer("a") == nil)
        #expect(body.has("a"))
        #expect(!body.has("b"))
    }

    @Test("Whole numbers are read exactly", arguments: [Int64.min, -1, 0, 1 << 53 + 1, .max])
    func integersAreExact(number: Int64) throws {
        var body = try reader("{\"a\":\(number)}")
        #expect(try body.integer("a") == number)
    }

    @Test("A number that ends with .0 is an integer", arguments: ["24.0", "24.000"])
    func integralDecimalsAreIntegers(json: String) throws {
        var body = try reader("{\"a\":\(json)}")
        #expect(try body.integer("a") == 24)
    }

    @Test("A number of another kind is rejected", arguments: ["1.5", "1e2", "9223372036854775808", "\"1\"", "true"])
    func nonIntegersAreRejected(json: String) throws {
        var body = try reader("{\"a\":\(json)}")
        #expect(named { _ = try body.integer("a") } == "a")
    }

    @Test("A decimal is exact, as a string or a number", arguments: ["0.75", "\"0.75\"", "0.750"])
    func decimalsAreExact(json: String) throws {
        var body = try reader("{\"a\":\(json)}")
        #expect(try body.decimal("a") == ExactDecimal("0.75"))
    }

    @Test("A decimal in scientific notation is rejected")
    func scientificDecimalsAreRejected() throws {
        var body = try reader(#"{"a":75e-2}"#)
        #expect(named { _ = try body.decimal("a") } == "a")
    }

    @Test("A choice outside the allowed values is rejected with their list")
    func choicesAreListed() throws {
        var body = try reader(#"{"a":"first"}"#)
        let error = #expect(throws: CatalogError.self) { try body.choice("a", SoldOut.self) }
        guard case .malformed(let name, _, let allowed, _) = error else {
            Issue.record("the error is \(String(describing: error))")
            return
        }
        #expect(name == "a")
        #expect(allowed == SoldOut.allCases.map(\.rawValue))
    }

    @Test("Ids have 1 to 256 bytes")
    func idsAreChecked() throws {
        let longest = String(repeating: "x", count: 256)
        var body = try reader("{\"a\":[\"\(longest)\"],\"b\":[\"x\",\"\"],\"c\":[\"\(longest)x\"],\"d\":[1]}")
        #expect(try body.ids("a") == [longest])
        #expect(named { _ = try body.ids("b") } == "b")
        #expect(named { _ = try body.ids("c") } == "c")
        #expect(named { _ = try body.ids("d") } == "d")
        #expect(named { _ = try body.ids("e") } == "e")
    }

    @Test("An unknown property is rejected; one that is read or ignored is not")
    func unknownMembersAreRejected() throws {
        var body = try reader(#"{"a":1,"b":2,"c":3}"#)
        _ = try body.integer("a")
        #expect(named { try body.end() } == "b")
        body.ignore("b", "c")
        #expect(throws: Never.self) { try body.end() }
    }
}
