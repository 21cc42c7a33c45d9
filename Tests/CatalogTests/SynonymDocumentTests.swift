import Catalog
import CatalogJSON
import JSON
import Testing

/// Synonyms as documents, and the decisions about their changes.
@Suite struct SynonymDocumentTests {
    private static func read(_ text: String) throws -> Synonyms { try Synonyms(text: Array(text.utf8)) }

    private static func error(_ text: String) -> CatalogError? {
        do {
            _ = try read(text)
            return nil
        } catch { return error as? CatalogError }
    }

    /// The field and the reason of an invalid list; nil for another error.
    private static func invalid(_ text: String) -> (field: String, detail: String)? {
        guard case .unprocessable(let field, let detail)? = error(text) else { return nil }
        return (field, detail)
    }

    @Test("A document is returned as it was read, with trimmed and composed texts, and missing lists are empty")
    func roundTrip() throws {
        let text = #"{"synonyms":[["pop","soft drink"],["krumpir","krompir"]],"one_way":[{"from":"bio","to":["eko"]}]}"#
        let synonyms = try Self.read(text)
        #expect(String(decoding: synonyms.json, as: UTF8.self) == text)
        #expect(synonyms.groups == [["pop", "soft drink"], ["krumpir", "krompir"]])
        #expect(synonyms.oneWay == [.init(from: "bio", to: ["eko"])])
        for empty in ["{}", #"{"synonyms":null,"one_way":[]}"#] {
            #expect(try String(decoding: Self.read(empty).json, as: UTF8.self) == #"{"synonyms":[],"one_way":[]}"#)
        }
        let spelled = try Self.read("{\"synonyms\":[[\" cafe\u{301} \",\"kava\"]]}")
        #expect(
            spelled.groups.map { $0.map { Array($0.unicodeScalars) } } == [
                ["caf\u{E9}", "kava"].map { Array($0.unicodeScalars) }
            ]
        )
    }

    @Test(
        "Another form is malformed, with the place",
        arguments: [
            ("[]", nil), (#"{"synonyms":{}}"#, "synonyms"), (#"{"synonyms":["a"]}"#, "synonyms[0]"),
            (#"{"synonyms":[["a",1]]}"#, "synonyms[0][1]"), (#"{"one_way":[1]}"#, "one_way[0]"),
            (#"{"one_way":[{"to":["a"]}]}"#, "one_way[0].from"),
            (#"{"one_way":[{"from":"a","to":"b"}]}"#, "one_way[0].to"),
            (#"{"one_way":[{"from":"a","to":["b"],"both":true}]}"#, "one_way[0].both"), (#"{"twoway":[]}"#, "twoway"),
            ("{", nil),
        ] as [(String, String?)]
    )
    func malformed(_ text: String, _ place: String?) {
        guard case .malformed(let parameter, _, _, _)? = Self.error(text) else {
            Issue.record("\(text) is not malformed")
            return
        }
        #expect(parameter == place)
    }

    @Test("Texts without words, too many words, and texts that repeat others are invalid, with the place")
    func invalidTexts() {
        #expect(Self.invalid(#"{"synonyms":[["a","b"],["c","!"]]}"#)?.field == "synonyms[1][1]")
        #expect(Self.invalid(#"{"synonyms":[["a"]]}"#)?.detail == "synonyms[0] must have 2 to 20 texts (got 1)")
        #expect(Self.invalid(#"{"one_way":[{"from":"a b c d e","to":["b"]}]}"#)?.field == "one_way[0].from")
        #expect(Self.invalid("{\"synonyms\":[[\"a\",\"b\\u0007\"]]}")?.field == "synonyms[0][1]")
        // Case and accents do not count, but the order of words does.
        let repeated = Self.invalid(#"{"synonyms":[["soft drink","Pop","PÓP"]]}"#)
        #expect(repeated?.field == "synonyms[0][2]")
        #expect(repeated?.detail.contains("same words as synonyms[0][1]") == true)
        #expect(Self.invalid(#"{"one_way":[{"from":"bio","to":["eko","BIO"]}]}"#)?.field == "one_way[0].to[1]")
        #expect(Self.error(#"{"synonyms":[["soft drink","drink soft"],["soft drink","pop"]]}"#) == nil)
        let many = Array(repeating: #"["a","b"]"#, count: 2001).joined(separator: ",")
        #expect(Self.invalid("{\"synonyms\":[\(many)]}")?.field == "synonyms")
    }

    @Test("A stored document is read without the lists that this release does not allow")
    func stored() throws {
        let text = #"""
            {"synonyms":[["a","b"],["c"],["d","!"],"x",["e",1],["f","g"]],"later":1,
            "one_way":[{"from":"a","to":["b"]},{"from":"","to":["b"]},{"from":"a"},1]}
            """#
        let synonyms = Synonyms(stored: try JSONReader.parse(Array(text.utf8)))
        #expect(synonyms.groups == [["a", "b"], ["f", "g"]])
        #expect(synonyms.oneWay == [.init(from: "a", to: ["b"])])
        #expect(Synonyms(stored: .null) == .none)
    }

    @Test("Synonyms of a store are added to those of the deployment")
    func adding() throws {
        let both = try Self.read(#"{"synonyms":[["a","b"]]}"#)
            .adding(Self.read(#"{"synonyms":[["b","c"]],"one_way":[{"from":"a","to":["c"]}]}"#))
        #expect(both.groups == [["a", "b"], ["b", "c"]] && both.oneWay.count == 1)
        #expect(Synonyms.none.adding(both) == both && both.adding(.none) == both)
    }

    // MARK: - Changes

    private static func change(
        _ old: Synonyms?,
        _ new: Synonyms?,
        of owner: DeclarationOwner = .deployment,
        _ expectation: SynonymExpectation? = nil
    ) throws -> SynonymChange {
        try SynonymChange(of: owner, from: old, to: new, expecting: expectation)
    }

    @Test("A change is new, another one, or none; an unmet expectation and a deletion of nothing are refused")
    func decisions() throws {
        let (pop, bio) = (
            try Self.read(#"{"synonyms":[["pop","soda"]]}"#), try Self.read(#"{"synonyms":[["bio","eko"]]}"#)
        )
        let created = try Self.change(nil, pop)
        #expect(created.isNew && created.isChange)
        let replaced = try Self.change(pop, bio)
        #expect(!replaced.isNew && replaced.isChange)
        #expect(try !Self.change(pop, pop).isChange)
        #expect(try Self.change(nil, Synonyms.none).isChange, "an empty document is not the same as none")
        #expect(try Self.change(pop, nil).isChange)
        #expect(throws: CatalogError.noSynonyms(of: .deployment)) { try Self.change(nil, nil) }
        #expect(throws: CatalogError.staleSynonyms(current: pop)) { try Self.change(pop, bio) { $0 == bio } }
        #expect(throws: CatalogError.staleSynonyms(current: nil)) { try Self.change(nil, nil) { $0 != nil } }
        #expect(try Self.change(pop, bio) { $0 == pop }.new == bio)
        // The log does not have the whole document.
        #expect(CatalogError.staleSynonyms(current: pop).reason == "the synonyms are not as expected")
    }

    @Test("Another order of the lists is not a change, and another order of the texts of a list is")
    func order() throws {
        let old = try Self.read(
            #"{"synonyms":[["a","b"],["c","d"]],"one_way":[{"from":"x","to":["y"]},{"from":"z","to":["y"]}]}"#
        )
        let new = try Self.read(
            #"{"synonyms":[["c","d"],["a","b"]],"one_way":[{"from":"z","to":["y"]},{"from":"x","to":["y"]}]}"#
        )
        #expect(old != new)
        let change = try Self.change(old, new)
        #expect(!change.isChange && !change.isNew && AuditChange.synonyms(change) == nil)
        let turned = try Self.read(
            #"{"synonyms":[["b","a"],["c","d"]],"one_way":[{"from":"x","to":["y"]},{"from":"z","to":["y"]}]}"#
        )
        let entry = try #require(AuditChange.synonyms(try Self.change(old, turned)))
        #expect(entry.detail.text == #"{"count":4,"added":[["b","a"]],"removed":[["a","b"]]}"#)
    }

    @Test("A document of more than 256 KiB is too large")
    func length() throws {
        let texts = (0..<2000).map { number in
            (0..<2).map { "\(number) \($0) " + String(repeating: "x", count: 60) }
        }
        let synonyms = try Synonyms(groups: texts, oneWay: [])
        #expect(synonyms.json.count > Synonyms.documentLimit)
        let error = #expect(throws: CatalogError.self) { try Self.change(nil, synonyms) }
        guard case .tooLarge(let detail)? = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
        #expect(detail.contains("the maximum is 262144"))
        #expect(try Self.change(nil, Synonyms(groups: Array(texts.prefix(1500)), oneWay: [])).isNew)
    }

    @Test("The audit log has the lists that were added and removed, and the number of all")
    func audit() throws {
        let shop = DeclarationOwner.store(CatalogKey("shop")!)
        let old = try Self.read(#"{"synonyms":[["a","b"],["c","d"]],"one_way":[{"from":"x","to":["y"]}]}"#)
        let new = try Self.read(#"{"synonyms":[["c","d"],["e","f"]],"one_way":[{"from":"x","to":["z"]}]}"#)
        let entry = try #require(AuditChange.synonyms(try Self.change(old, new, of: shop)))
        #expect(entry.action == .synonymsPut && entry.subject == nil)
        #expect(
            entry.detail.text
                == #"{"count":3,"added":[["e","f"],{"from":"x","to":["z"]}],"removed":[["a","b"],{"from":"x","to":["y"]}]}"#
        )
        let deleted = try #require(AuditChange.synonyms(try Self.change(old, nil)))
        #expect(deleted.action == .deploymentSynonymsDelete && deleted.detail["count"] == .integer(0))
        #expect(AuditChange.synonyms(try Self.change(old, nil, of: shop))?.action == .synonymsDelete)
        #expect(AuditChange.synonyms(try Self.change(nil, old))?.action == .deploymentSynonymsPut)
        #expect(AuditChange.synonyms(try Self.change(old, old)) == nil)
    }
}
