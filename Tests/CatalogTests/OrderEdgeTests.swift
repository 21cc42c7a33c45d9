import JSON
import Ordering
import Testing

@testable import Catalog

/// Manual orders, prices, settings and recorded changes at the edges of each rule.
@Suite(.timeLimit(.minutes(15))) struct OrderEdgeTests {
    private func refusal(_ body: () throws -> Void) -> String? {
        do {
            try body()
            return nil
        } catch { return (error as? CatalogError)?.reason ?? "\(error)" }
    }

    // MARK: - Manual orders

    @Test("An edit has 1 to 1000 moves of 1 to 10,000 products, and no repeats")
    func checksEdits() {
        func reason(_ edit: ManualOrderEdit) -> String? { refusal { try edit.check() } }
        let move = OrderMove(["a"], .first)
        #expect(reason(.moves([])) == "moves must have 1 to 1000 elements")
        #expect(reason(.moves([move])) == nil && reason(.moves(Array(repeating: move, count: 1000))) == nil)
        #expect(reason(.moves(Array(repeating: move, count: 1001))) == "moves must have 1 to 1000 elements")
        #expect(reason(.moves([move, OrderMove([], .last)])) == "ids must not be empty")
        let many = (0..<10_000).map { "p\($0)" }
        #expect(reason(.moves([OrderMove(many, .first)])) == nil)
        #expect(reason(.moves([OrderMove(many + ["x"], .first)])) == "a move can have at most 10000 products")
        #expect(reason(.moves([OrderMove(["a", "b", "a"], .first)])) == "duplicate id “a” in one move")
        #expect(reason(.moves([OrderMove(["a", "b"], .before("b"))])) == "“b” cannot move next to itself")
        #expect(reason(.moves([OrderMove(["b"], .before("b"))])) == nil)
        #expect(reason(.moves([OrderMove(["b"], .position(0))])) == nil)
        #expect(reason(.moves([OrderMove(["b"], .position(-1))])) == "position must be 0 or more (got -1)")
        #expect(reason(.set([])) == nil && reason(.set(["a", "b", "a"])) == "duplicate id “a”")
        #expect(reason(.set((0..<200_000).map { "\($0)" })) == nil)
        #expect(reason(.set((0..<200_001).map { "\($0)" })) == "ids has 200001 products; the maximum is 200000")
        #expect(
            reason(.snapshot(.position)) != nil && reason(.snapshot(.system)) == nil
                && reason(.undo(change: nil)) == nil
        )
        let kinds: [(ManualOrderEdit, OrderChange.Kind)] = [
            (.moves([]), .move), (.set([]), .set), (.snapshot(.system), .snapshot), (.undo(change: 1), .undo),
        ]
        for (edit, kind) in kinds { #expect(edit.kind == kind) }
        #expect(OrderChange.Kind.snapshot.rawValue == "bake" && OrderChange.retentionLimit == 100)
    }

    @Test("Several moves may scan 2,000,000 elements, and one move any list")
    func checksWork() {
        func isRefused(_ moves: Int, _ count: Int) -> Bool {
            refusal { try ManualOrderEdit.checkWork(moves: moves, of: count) } != nil
        }
        #expect(
            !isRefused(10, 200_000) && isRefused(11, 200_000) && !isRefused(1, 5_000_000) && isRefused(2, 1_500_000)
        )
        #expect(!isRefused(2, 1_000_000) && !isRefused(1000, 0) && !isRefused(1000, 2000) && isRefused(1000, 2001))
    }

    @Test("An order that begins with some products keeps the others in their order")
    func beginnings() throws {
        #expect(try ManualOrderEdit.order(["a", "b", "c", "d"], beginningWith: ["c", "a"]) == ["c", "a", "b", "d"])
        #expect(try ManualOrderEdit.order(["a", "b"], beginningWith: []) == ["a", "b"])
        #expect(refusal { _ = try ManualOrderEdit.order(["a"], beginningWith: ["x"]) } == "“x” is not in this order")
        #expect(try [OrderMove(["a"], .last), OrderMove(["b"], .last)].apply(to: ["a", "b", "c"]) == ["c", "a", "b"])
        #expect(OrderMove(["a"], .after("b")).anchor == "b" && OrderMove(["a"], .before("c")).anchor == "c")
        #expect(OrderMove(["a"], .first).anchor == nil && !OrderMove(["a"], .after("b")).isInPlace)
        #expect(OrderMove(["a"], .after("a")).isInPlace && !OrderMove(["a", "b"], .after("a")).isInPlace)
    }

    private func list(_ ids: String, removed: String = "") -> PositionList {
        let keys = PathKey.appending(ids.count, after: nil)
        return PositionList(
            zip(ids, keys).reversed().map { .init(id: String($0), key: $1, isRemoved: removed.contains($0)) }
        )
    }

    @Test(
        "Moved products get keys next to their target, also beside removed products",
        arguments: [
            (["C"], .first, "CXAYBZ", [[-16]]), (["A"], .last, "XYBCZA", [[96]]),
            (["C"], .after("A"), "XACYBZ", [[24]]),
            (["C"], .before("B"), "XAYCBZ", [[40]]), (["C"], .position(0), "XCAYBZ", [[8]]),
            (["C"], .position(1), "XAYCBZ", [[40]]), (["A"], .position(1), "XYBACZ", [[56]]),
            (["A"], .position(9), "XYBCZA", [[96]]), (["C", "A"], .before("B"), "XYCABZ", [[37], [42]]),
        ] as [([String], OrderMove.Target, String, [[Int64]])]
    )
    func places(_ ids: [String], _ target: OrderMove.Target, _ expected: String, _ keys: [[Int64]]) throws {
        // The keys are 0, 16, 32, 48, 64 and 80.
        var list = list("XAYBCZ", removed: "XYZ")
        let made = try list.apply(OrderMove(ids, target))
        #expect(list.rows.map(\.id).joined() == expected)
        #expect(made.map(\.id) == ids && made.map(\.key.parts) == keys)
        #expect(list.rows.filter(\.isRemoved).map(\.id) == ["X", "Y", "Z"])
        #expect(list.ids == list.rows.map(\.id).filter { "ABC".contains($0) })
    }

    @Test("Neighbors to the left are recorded, also removed ones")
    func leftNeighbors() {
        let list = list("XABYC", removed: "XY")
        let found = list.leftNeighbours(of: ["C", "A", "X"])
        #expect(found.map(\.id) == ["X", "A", "C"] && found.map(\.left) == [nil, "X", "Y"])
        #expect(list.restoring([("C", nil), ("A", "C")]) == ["C", "A", "B"])
        let moves = OrderChange.Move.list([("A", nil), ("B", "A")], [("B", "C"), ("B", "D")])
        #expect(
            moves.map(\.id) == ["A", "B"] && moves.map(\.fromAfter) == [nil, "A"] && moves.map(\.toAfter) == [nil, "C"]
        )
    }

    @Test("Moves of a short list renumber it once a key is long, and otherwise only the moved rows")
    func renumbers() throws {
        var own = list("ABCD", removed: "D")
        let made = try own.renumber(by: [
            OrderMove(["C"], .first), OrderMove(["C"], .after("A")), OrderMove(["B"], .first),
        ])
        #expect(own.ids == ["B", "A", "C"])
        #expect(made.map(\.id) == ["B", "C"] && made.map(\.key.parts) == [[-16], [8]])
        let deep = [Int64](repeating: 0, count: 64)
        var long = PositionList([
            .init(id: "A", key: PathKey(deep), isRemoved: false),
            .init(id: "B", key: PathKey(deep + [0]), isRemoved: true),
            .init(id: "E", key: PathKey([3]), isRemoved: false), .init(id: "C", key: PathKey([5]), isRemoved: false),
        ])
        let fresh = try long.renumber(by: [OrderMove(["C"], .after("A"))])
        #expect(
            long.ids == ["A", "C", "E"] && long.rows.map(\.id) == ["A", "C", "B", "E"]
                && long.rows.map(\.isRemoved) == [false, false, true, false]
        )
        #expect(fresh.map(\.id) == ["A", "C", "B", "E"] && fresh.map(\.key.parts) == [[0], [16], [32], [48]])
        var short = list("AB")
        let none = refusal { _ = try short.renumber(by: []) }
        #expect(none != nil)
    }

    @Test("A recorded change lists its first five products")
    func recordedChanges() {
        let ids = (0..<7).map { "p\($0)" }
        let moves = ids.map { OrderChange.Move(id: $0, fromAfter: nil, toAfter: nil) }
        let change = OrderChange(
            number: 1,
            at: Timestamp(microseconds: 0),
            subject: nil,
            kind: .set,
            count: 7,
            ids: ids,
            moves: moves
        )
        #expect(change.ids == Array(ids.prefix(5)) && change.moves == Array(moves.prefix(5)) && change.count == 7)
    }

    // MARK: - Prices and popularity

    @Test("A crossed-out price stays only above the price, unless the change sets it")
    func prices() {
        func applied(_ price: Int64?, _ regular: Int64??, _ old: Int64?) -> [Int64?] {
            let change = PriceChange(sku: SKU("a")!, priceMinor: price, regularPriceMinor: regular)
            let new = change.applied(to: PriceRevision.Prices(price: 50, regular: old))
            return [new.price, new.regular]
        }
        #expect(
            applied(99, nil, 100) == [99, 100] && applied(100, nil, 100) == [100, nil]
                && applied(101, nil, 100) == [101, nil]
        )
        #expect(applied(nil, nil, 100) == [nil, nil] && applied(10, nil, nil) == [10, nil])
        #expect(
            applied(10, .some(5), 100) == [10, 5] && applied(10, .some(nil), 100) == [10, nil]
                && applied(nil, .some(5), nil) == [nil, 5]
        )
        let (a, b) = (PriceChange(sku: SKU("a")!, priceMinor: 1), PriceChange(sku: SKU("b")!, priceMinor: 1))
        #expect(refusal { try PriceChange.check([a, b]) } == nil)
        #expect(refusal { try PriceChange.check([a, b, a]) } == "duplicate product “a”")
    }

    @Test("Counts have the same rule if the metric, the boost and, for decay, the half-life are equal")
    func popularityRules() {
        func count(_ metric: PopularityMetric, _ days: Int = 14, _ boost: Double = 0) -> PopularityCount {
            PopularityCount(metric: metric, halfLifeDays: days, newcomerBoost: boost, day: 1)
        }
        #expect(count(.decay).hasSameRule(of: count(.decay)) && !count(.decay).hasSameRule(of: count(.decay, 15)))
        #expect(
            !count(.decay).hasSameRule(of: count(.decay, 14, 1)) && !count(.decay).hasSameRule(of: count(.last7Days))
        )
        #expect(
            count(.last7Days).hasSameRule(of: count(.last7Days, 15))
                && !count(.last7Days).hasSameRule(of: count(.last7Days, 14, 1))
        )
        var store = Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!, locale: "de-AT")
        #expect(store.language == "de-AT" && store.scoreDay(on: 9) == 9 && store.popularityRule.day == nil)
        store.collation = "hr"
        store.lastCount = count(.last7Days)
        #expect(store.language == "hr" && store.scoreDay(on: 9) == 1)
        store.lastCount.day = nil
        #expect(store.scoreDay(on: 9) == 9)
        let made = Popularity(purchases: 3, day: Popularity.epochDay + 14, halfLifeDays: 14)
        #expect(made.log2 == 2.584963, "rounded to six decimals")
        #expect(
            Popularity(purchases: -1, day: 0, halfLifeDays: 1) == .none && Popularity(log2: 1) < Popularity(log2: 2)
        )
        #expect(Popularity.epochDay == 18_262 && Timestamp.date(ofDay: Popularity.epochDay) == "2020-01-01")
        #expect(inversePower(2, 3) == 0.125)
    }

    @Test("Outcomes and summaries add up, with at most 1000 unknown products")
    func sums() {
        var outcome = PurchaseOutcome()
        (outcome.accepted, outcome.repeated, outcome.tooOld, outcome.unknown) = (1, 2, 3, 4)
        outcome.unknownSKUs = ["a"]
        let one = outcome
        outcome += one
        #expect(
            [outcome.accepted, outcome.repeated, outcome.tooOld, outcome.unknown] == [2, 4, 6, 8]
                && outcome.unknownSKUs == ["a"]
        )
        var many = PurchaseOutcome()
        many.unknownSKUs = Set((0..<1500).map { "p\($0)" })
        outcome += many
        #expect(outcome.unknownSKUs.count == 1000)
        outcome += many
        #expect(outcome.unknownSKUs.count == 1000)
        var summary = ResortSummary()
        #expect(!summary.isChange)
        var other = ResortSummary()
        (other.events, other.products, other.shelves, other.changed, other.moved, other.isFoldPostponed) = (
            1, 2, 3, 4, 5, true
        )
        summary.add(other)
        summary.add(other)
        #expect(summary.counts.map(\.count) == [2, 4, 6, 8, 10] && summary.isFoldPostponed)
        #expect(summary.counts.map(\.name) == ["events", "products", "shelves", "changed", "moved"])
        summary.add(ResortSummary())
        #expect(summary.isFoldPostponed)
        for change in [{ $0.events = 1 }, { $0.products = 1 }, { $0.changed = 1 }] as [(inout ResortSummary) -> Void] {
            var own = ResortSummary()
            change(&own)
            #expect(own.isChange)
        }
        var still = ResortSummary()
        (still.shelves, still.moved) = (1, 1)
        #expect(!still.isChange)
        func pause(_ pace: Int) -> Duration { ResortRequest(pace: pace).pause(after: .seconds(6)) }
        #expect(
            pause(100) == .zero && pause(50) == .seconds(6) && pause(25) == .seconds(18) && pause(75) == .seconds(2)
        )
    }

    // MARK: - Settings

    @Test("A remembered view is a sort, or a sort with a filter")
    func rememberedViews() throws {
        func view(_ json: String) throws -> RememberedSort {
            try RememberedSort(JSONReader.parse(Array(json.utf8)), field: "value")
        }
        for json in [#""price""#, #"{"sort":"-price","filter":{"in_stock":true}}"#] {
            #expect(try view(json).value.text == json)
        }
        #expect(try view(#"{"sort":"price","filter":null}"#) == view(#""price""#))
        #expect(try view(#"{"sort":"price","filter":{}}"#).value == .string("price"))
        for (json, reason) in [
            ("1", "value must be a sort"), ("{}", "value must be a sort"), (#"{"sort":1}"#, "value must be a sort"),
            (#"{"sort":"price","x":1}"#, "unknown property"), (#""Cost""#, "unknown sort key: “Cost”"),
            (#"{"sort":"Cost"}"#, "unknown sort key: “Cost”"),
            (#"{"sort":"price","filter":[]}"#, "value.filter must be an object"),
        ] {
            #expect(refusal { _ = try view(json) }?.hasPrefix(reason) == true, "\(json)")
        }
        let (a, b) = (RememberedSort(.position), RememberedSort(.system))
        #expect(
            RememberedSorts(shelf: a, store: b).effective == a && RememberedSorts(store: b).effective == b
                && RememberedSorts.none.effective == nil
        )
    }

    @Test("A value of a setting is a scalar or an object of at most 4096 bytes, and catalog settings have their form")
    func settings() throws {
        func reason(_ value: JSONValue, _ key: String = "theme") -> String? {
            refusal { try Setting.check(value, for: SettingKey(key)!) }
        }
        for value in [.bool(true), .number("1"), .string(""), .object([])] as [JSONValue] {
            #expect(reason(value) == nil)
        }
        #expect(reason(.null) != nil && reason(.array([])) != nil)
        let longest = JSONValue.string(String(repeating: "a", count: 4094))
        #expect(
            reason(longest) == nil
                && reason(.string(String(repeating: "a", count: 4095))) == "value has 4097 bytes; the maximum is 4096"
        )
        #expect(reason(.string("price"), "stores/a/sort") == nil && reason(.string("Cost"), "stores/a/sort") != nil)
        #expect(reason(.string("cost"), "stores/a/other") == nil)
        #expect(
            reason(.string("manual"), "lists.sort") == nil && reason(.string("price"), "lists.sort") != nil
                && reason(.bool(true), "lists.sort") != nil
        )
        #expect(reason(.bool(false), "lists.sink_checked") == nil && reason(.string("no"), "lists.sink_checked") != nil)
        let now = Timestamp(microseconds: 1)
        #expect(Setting(key: SettingKey("a")!, value: nil, revision: 1, modifiedAt: now).isDeleted)
        #expect(
            Setting(key: SettingKey("a")!, value: .string("price"), revision: 1, modifiedAt: now).rememberedSort
                == RememberedSort(Sort(.price, .ascending)!)
        )
        #expect(Setting(key: SettingKey("a")!, value: .string("X"), revision: 1, modifiedAt: now).rememberedSort == nil)
    }

    @Test("Only one write without conditions is an unconditional write")
    func unconditionalWrites() {
        let write = SettingsEdit.Write(SettingKey("a")!, .bool(true))
        let found = SettingsEdit([write]).unconditionalWrite
        #expect(found?.key == write.key && found?.value == .bool(true))
        #expect(SettingsEdit([write], expecting: .present).unconditionalWrite == nil)
        #expect(SettingsEdit([write, write]).unconditionalWrite == nil && SettingsEdit([]).unconditionalWrite == nil)
        #expect(SettingsEdit([.init(write.key, nil)]).unconditionalWrite == nil)
        #expect(
            SettingsEdit([.init(write.key, .null, modifiedAt: Timestamp(microseconds: 1))]).unconditionalWrite == nil
        )
        var previous = SettingsEdit([write])
        previous.needsPrevious = true
        #expect(previous.unconditionalWrite == nil)
        #expect(SettingsEdit.firstRevision(Timestamp(microseconds: 7)) == 7)
    }

    @Test("Writes of an edit get consecutive revisions, and keep the later time")
    func revisions() throws {
        func key(_ text: String) -> SettingKey { SettingKey(text)! }
        func time(_ seconds: Int64) -> Timestamp { Timestamp(microseconds: seconds) }
        let stored = Setting(key: key("b"), value: .bool(true), revision: 3, modifiedAt: time(50))
        let edit = SettingsEdit([
            .init(key("a"), .bool(true)), .init(key("b"), .bool(false), modifiedAt: time(40)), .init(key("b"), .null),
            .init(key("c"), nil), .init(key("d"), nil, modifiedAt: time(5)),
        ])
        let results = try edit.decide([stored.key: stored], after: 9, now: time(30))
        #expect(results.map(\.isApplied) == [true, false, true, false, true])
        #expect(results.map(\.setting.revision) == [10, 3, 11, 0, 12])
        #expect(results.map(\.setting.modifiedAt) == [time(30), time(50), time(50), time(30), time(5)])
        #expect(results.map { $0.previous?.revision } == [nil, 3, 3, nil, nil])
        #expect(results[1].setting == stored && results[3].setting.value == nil)
    }

    // MARK: - Audit and responses

    @Test("The members that differ are listed with their old and new values")
    func differences() throws {
        func differences(_ old: String?, _ new: String?) throws -> String {
            func members(_ text: String?) throws -> [JSONValue.Member]? {
                guard let text, case .object(let members) = try JSONReader.parse(Array(text.utf8)) else { return nil }
                return members
            }
            return JSONValue.object(JSONValue.differences(try members(old), try members(new))).text
        }
        #expect(try differences(nil, nil) == "{}")
        #expect(try differences(nil, #"{"a":1,"b":null}"#) == #"{"new":{"a":1}}"#)
        #expect(try differences(#"{"a":1,"b":null}"#, nil) == #"{"old":{"a":1}}"#)
        #expect(try differences(#"{"a":1,"b":2}"#, #"{"b":3,"a":1}"#) == #"{"old":{"b":2},"new":{"b":3}}"#)
        #expect(try differences(#"{"a":{"x":1,"y":[{"p":1,"q":2}]}}"#, #"{"a":{"y":[{"q":2,"p":1}],"x":1}}"#) == "{}")
        #expect(try differences(#"{"a":[1,2]}"#, #"{"a":[2,1]}"#) == #"{"old":{"a":[1,2]},"new":{"a":[2,1]}}"#)
        #expect(try differences(#"{"a":1}"#, "{}") == #"{"old":{"a":1},"new":{"a":null}}"#)
        #expect(try differences(#"{"a":null}"#, "{}") == "{}")
    }

    @Test("A repeat gets the first response, and another request under its key is refused")
    func firstResponses() throws {
        func call(_ fingerprint: [UInt8]) -> IdempotentCall<Int> {
            IdempotentCall(
                key: "k",
                fingerprint: fingerprint,
                encode: { _ in RecordedResponse(body: []) },
                decode: { _ in 1 }
            )
        }
        let first = FirstResponse(fingerprint: [1, 2], response: RecordedResponse(isNew: true, body: [7]))
        #expect(try first.response(to: call([1, 2])).body == [7])
        #expect(throws: CatalogError.keyReused) { try first.response(to: call([1, 3])) }
    }

    @Test("Scopes of writing the catalog include all others, and stores limit them")
    func callers() {
        let (a, b) = (CatalogKey("a")!, CatalogKey("b")!)
        let user = UserID("ann")!
        func caller(_ scopes: Set<Scope>, _ stores: Set<CatalogKey>? = nil) -> Caller {
            Caller(user: user, scopes: scopes, stores: stores, expiresAt: Timestamp(microseconds: 0))
        }
        for scope in Scope.allCases {
            #expect(caller([.catalogWrite]).has(scope) && !caller([]).has(scope) && caller([scope]).has(scope))
            #expect(caller([scope]).has(.auditRead) == (scope == .auditRead || scope == .catalogWrite))
        }
        #expect(caller([]).isValid(for: a) && caller([]).isValid(for: nil))
        #expect(
            caller([], [a]).isValid(for: a) && !caller([], [a]).isValid(for: b) && !caller([], [a]).isValid(for: nil)
        )
        #expect(caller([]).customer == "ann")
        #expect(Caller(user: user, customer: "c", expiresAt: Timestamp(microseconds: 0)).customer == "c")
    }

    @Test("An error has a reason for the log, and unknown stores are named with a close one")
    func errors() {
        func keys(_ texts: String...) -> [CatalogKey] { texts.map { CatalogKey($0)! } }
        let one = CatalogError.unknownStores(keys("cornre"), known: keys("corner", "kiosk"))
        #expect(
            one.reason
                == "store “cornre” does not exist; did you mean “corner”? Nothing was imported. To create it, set create_store (command line: --create-store)"
        )
        let many = CatalogError.unknownStores(keys("f", "e", "d", "c", "b", "a"), known: [CatalogKey]())
        #expect(
            many.reason.hasPrefix(
                "the catalog has no stores yet: stores “a”, “b”, “c”, “d”, “e” and 1 more do not exist. Nothing was imported. To create them"
            )
        )
        let five = CatalogError.unknownStores(keys("v", "w", "x", "y", "z"), known: keys("other"))
        #expect(five.reason.hasPrefix("stores “v”, “w”, “x”, “y”, “z” do not exist. Nothing"))
        #expect(
            CatalogError.notFound("list “x”").reason == "list “x” does not exist"
                && CatalogError.conflict("c").reason == "c"
        )
        #expect(CatalogError.stale(current: 5).reason == "stale(current: 5)")
    }
}
