import JSON
import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct AttributeChangeTests {
    private static let corner = CatalogKey("corner")!

    private static func name(_ text: String) -> AttributeName { AttributeName(text)! }

    private static func declaration(_ name: String, _ json: String) throws -> AttributeDeclaration {
        try AttributeDeclaration(Self.name(name), try JSONReader.parse(Array(json.utf8)))
    }

    private static func stored(_ declarations: [String: String]) throws -> [AttributeDeclaration] {
        try declarations.map { try declaration($0.key, $0.value) }
    }

    /// Returns titles, as JSON, in languages that begin with a letter.
    private static func titles(_ count: Int, _ letter: String = "a", _ text: String = "x") -> String {
        "{" + (0..<count).map { "\"\(letter)\($0)\":\"\(text)\"" }.joined(separator: ",") + "}"
    }

    /// Returns an enum whose document has a length in bytes.
    private static func declaration(_ name: String, length: Int) throws -> AttributeDeclaration {
        /// Returns the declaration with the shortest titles, and more bytes in the first ones.
        func declaration(_ more: Int) throws -> AttributeDeclaration {
            var rest = more
            let values = (0..<AttributeForm.optionLimit).map { number in
                let titles = ["aa", "bb", "cc", "dd"].map { language in
                    let more = min(AttributeTitles.byteLimit - 1, rest)
                    rest -= more
                    return "\"\(language)\":\"\(String(repeating: "x", count: 1 + more))\""
                }
                return "{\"key\":\"\(number)\",\"title\":{\(titles.joined(separator: ","))}}"
            }
            return try Self.declaration(name, #"{"type":"enum","values":[\#(values.joined(separator: ","))]}"#)
        }
        let found = try declaration(length - declaration(0).document.text.utf8.count)
        try #require(found.document.text.utf8.count == length)
        return found
    }

    private static let number = #"{"type":"number"}"#
    private static let ratio = #"{"type":"ratio","numerator":"price","denominator":["protein"]}"#

    /// Expects that a declaration is refused as a conflict, and returns the reason.
    private static func conflict(_ body: () throws -> Void) -> String? {
        guard case .conflict(let text)? = #expect(throws: CatalogError.self, performing: body) else {
            Issue.record("not a conflict")
            return nil
        }
        return text
    }

    @Test("A store can give other titles to an attribute of the deployment, but not another type")
    func overriding() throws {
        let change = AttributeChange(
            deployment: try Self.stored([
                "score": #"{"type":"enum","title":{"en":"Score"},"values":[{"key":"a","title":{"en":"Best"}}]}"#
            ]),
            stores: [:]
        )
        let titles = try Self.declaration("score", #"{"title":{"hr":"Ocjena"}}"#)
        #expect(try change.declaring(titles, for: .store(Self.corner)).new == titles)
        // The whole definition, as a client reads it, is the same.
        let whole = try Self.declaration(
            "score",
            #"{"type":"enum","title":{"en":"Score","hr":"Ocjena"},"values":[{"key":"a","title":{"en":"Best"}}]}"#
        )
        #expect(try change.declaring(whole, for: .store(Self.corner)).new == titles)
        let reason = Self.conflict {
            _ = try change.declaring(try Self.declaration("score", Self.number), for: .store(Self.corner))
        }
        #expect(reason?.contains("enum") == true)
        #expect(throws: CatalogError.self) {
            try change.declaring(
                try Self.declaration("score", #"{"values":[{"key":"z","title":{"en":"Z"}}]}"#),
                for: .store(Self.corner)
            )
        }
    }

    @Test("Titles alone declare nothing")
    func titlesAlone() throws {
        let change = AttributeChange(deployment: [], stores: [:])
        let titles = try Self.declaration("rating", #"{"title":{"en":"Rating"}}"#)
        for owner in [DeclarationOwner.deployment, .store(Self.corner)] {
            let error = #expect(throws: CatalogError.self) { try change.declaring(titles, for: owner) }
            guard case .unprocessable("type", _)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
        }
    }

    @Test("The deployment cannot declare a type that contradicts a store, and the reason names the store")
    func contradictedStore() throws {
        let stores = [Self.corner: try Self.stored(["rating": #"{"type":"number","title":{"en":"Stars"}}"#])]
        let change = AttributeChange(deployment: [], stores: stores)
        #expect(try change.declaring(try Self.declaration("rating", Self.number), for: .deployment).old == nil)
        let reason = Self.conflict {
            _ = try change.declaring(try Self.declaration("rating", #"{"type":"text"}"#), for: .deployment)
        }
        #expect(reason?.contains("corner") == true)
    }

    @Test("A reserved name is refused for a new attribute, and kept for a declared one")
    func reservedNames() throws {
        let text = try Self.declaration("price", #"{"type":"text"}"#)
        let new = AttributeChange(deployment: [], stores: [:])
        let known = AttributeChange(
            deployment: try Self.stored(["price": Self.number]),
            stores: [Self.corner: try Self.stored(["sort": Self.number])]
        )
        #expect(throws: CatalogError.self) { try new.declaring(text, for: .deployment) }
        #expect(throws: CatalogError.self) { try new.declaring(text, for: .store(Self.corner)) }
        #expect(try known.declaring(text, for: .deployment).old != nil)
        let sort = try Self.declaration("sort", #"{"type":"text"}"#)
        #expect(try known.declaring(sort, for: .store(Self.corner)).old != nil)
    }

    @Test("A ratio needs declared numbers, and these can be neither deleted nor retyped")
    func operands() throws {
        let ratio = try Self.declaration("protein_price", Self.ratio)
        let none = AttributeChange(deployment: [], stores: [:])
        #expect(throws: CatalogError.self) { try none.declaring(ratio, for: .deployment) }
        let text = AttributeChange(deployment: try Self.stored(["protein": #"{"type":"text"}"#]), stores: [:])
        #expect(throws: CatalogError.self) { try text.declaring(ratio, for: .deployment) }

        let shared = try Self.stored(["protein": Self.number])
        let inStore = AttributeChange(
            deployment: shared,
            stores: [Self.corner: try Self.stored(["protein_price": Self.ratio])]
        )
        #expect(try inStore.declaring(ratio, for: .store(Self.corner)).new == ratio)
        let finer = try Self.declaration("protein", #"{"type":"number","decimals":2}"#)
        #expect(try inStore.declaring(finer, for: .deployment).new == finer)
        for reason in [
            Self.conflict { _ = try inStore.removing(Self.name("protein"), of: .deployment) },
            Self.conflict {
                _ = try inStore.declaring(try Self.declaration("protein", #"{"type":"text"}"#), for: .deployment)
            },
        ] {
            #expect(reason?.contains("protein_price") == true)
        }

        let ownNumber = AttributeChange(
            deployment: [],
            stores: [Self.corner: try Self.stored(["protein": Self.number, "protein_price": Self.ratio])]
        )
        let reason = Self.conflict { _ = try ownNumber.removing(Self.name("protein"), of: .store(Self.corner)) }
        #expect(reason?.contains("protein_price") == true)
        // The definition of the deployment replaces the store's.
        let both = AttributeChange(deployment: shared, stores: ownNumber.stores)
        #expect(try both.removing(Self.name("protein"), of: .store(Self.corner)).name == Self.name("protein"))
    }

    @Test("A declaration that does not exist cannot be deleted")
    func missing() throws {
        let change = AttributeChange(deployment: try Self.stored(["rating": Self.number]), stores: [Self.corner: []])
        for (name, owner) in [("origin", DeclarationOwner.deployment), ("rating", .store(Self.corner))] {
            let error = #expect(throws: CatalogError.self) { try change.removing(Self.name(name), of: owner) }
            guard case .notFound? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
        }
    }

    @Test("A store has at most 64 attributes in effect, those of the deployment included")
    func countLimit() throws {
        let shared = try Self.stored(
            Dictionary(uniqueKeysWithValues: (0..<40).map { ("shared\($0)", Self.number) })
        )
        let own = try Self.stored(Dictionary(uniqueKeysWithValues: (0..<24).map { ("own\($0)", Self.number) }))
        let full = AttributeChange(deployment: shared, stores: [Self.corner: own])
        let one = try Self.declaration("rating", Self.number)
        #expect(Self.conflict { _ = try full.declaring(one, for: .store(Self.corner)) }?.contains("64") == true)
        #expect(Self.conflict { _ = try full.declaring(one, for: .deployment) }?.contains("corner") == true)
        // Those that exist can change, and the deployment can declare what the store has.
        #expect(
            try full.declaring(try Self.declaration("own0", #"{"type":"text"}"#), for: .store(Self.corner)).old != nil
        )
        #expect(try full.declaring(try Self.declaration("own0", Self.number), for: .deployment).old == nil)
        #expect(try full.declaring(try Self.declaration("shared0", #"{"type":"text"}"#), for: .deployment).old != nil)
    }

    @Test("The deployment has at most 64 attributes itself")
    func countLimitOfDeployment() throws {
        let names = (0..<AttributeDefinition.countLimit).map { "shared\($0)" }
        let all = try Self.stored(Dictionary(uniqueKeysWithValues: names.map { ($0, Self.number) }))
        let one = try Self.declaration("shared0", Self.number)
        let full = AttributeChange(deployment: all, stores: [:])
        #expect(try full.declaring(one, for: .deployment).old == one)
        let other = try Self.declaration("rating", Self.number)
        #expect(
            Self.conflict { _ = try full.declaring(other, for: .deployment) }?.contains("the deployment has 64") == true
        )
        let others = AttributeChange(deployment: all.filter { $0 != one }, stores: [:])
        #expect(try others.declaring(other, for: .deployment).isNew)
    }

    @Test("A declaration has at most 64 KiB, and all of an owner have at most 512 KiB")
    func sizeLimits() throws {
        let none = AttributeChange(deployment: [], stores: [:])
        let owners = [DeclarationOwner.deployment, .store(Self.corner)]
        let limit = AttributeDefinition.documentLimit
        for owner in owners {
            _ = try none.declaring(try Self.declaration("rating", length: limit), for: owner)
            let error = #expect(throws: CatalogError.self) {
                try none.declaring(try Self.declaration("rating", length: limit + 1), for: owner)
            }
            guard case .tooLarge(let detail)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
            #expect(detail.contains("65537") && detail.contains("65536"))
        }
        let large = try (0..<7).map { try Self.declaration("large\($0)", length: limit) }
        let small = try Self.declaration("small", Self.number)
        let length = small.document.text.utf8.count
        for (owner, isTooLong) in owners.flatMap({ [($0, false), ($0, true)] }) {
            let all = large + [try Self.declaration("last", length: limit - length + (isTooLong ? 1 : 0))]
            let change =
                owner == .deployment
                ? AttributeChange(deployment: all, stores: [:])
                : AttributeChange(deployment: [], stores: [Self.corner: all])
            if isTooLong {
                let reason = Self.conflict { _ = try change.declaring(small, for: owner) }
                #expect(reason?.contains("524289") == true && reason?.contains("524288") == true)
            } else {
                #expect(try change.declaring(small, for: owner).isNew)
            }
            // A declaration takes the place of the one with its name.
            _ = try change.declaring(try Self.declaration("last", length: limit), for: owner)
        }
    }

    @Test("A store can send back an attribute that it has read, even if it is longer than a declaration may be")
    func longTitles() throws {
        let shared = try Self.declaration("score", length: AttributeDefinition.documentLimit)
        guard case .definition(let definition) = shared else { throw CatalogError.fault("no definition") }
        var own = definition
        own.title = try AttributeTitles(["zz": String(repeating: "y", count: 100)], field: "title")
        let change = AttributeChange(deployment: [shared], stores: [Self.corner: []])
        let whole = AttributeDeclaration.definition(definition.retitled(own.titles))
        #expect(whole.document.text.utf8.count > AttributeDefinition.documentLimit)
        let declared = try change.declaring(whole, for: .store(Self.corner))
        #expect(declared.attribute.definition.title.texts.keys.contains("zz"))
        #expect(declared.new.document.text.utf8.count < 200)
    }

    @Test(
        "The titles of the deployment and of a store together have at most 20 languages, whichever owner declares last"
    )
    func mergedLanguages() throws {
        func definition(_ count: Int) throws -> AttributeDeclaration {
            try Self.declaration(
                "score",
                #"{"type":"enum","title":\#(Self.titles(count)),"values":[{"key":"k","title":\#(Self.titles(count))}]}"#
            )
        }
        for (field, json) in [
            ("title", #"{"title":\#(Self.titles(10, "b"))}"#),
            ("values[0].title", #"{"values":[{"key":"k","title":\#(Self.titles(10, "b"))}]}"#),
        ] {
            let own = try Self.declaration("score", json)
            let fitting = AttributeChange(deployment: [try definition(10)], stores: [Self.corner: []])
            let declared = try fitting.declaring(own, for: .store(Self.corner))
            // The attribute in effect can be sent back.
            var stored = fitting
            stored.stores[Self.corner] = [declared.new]
            let whole = AttributeDeclaration.definition(declared.attribute.definition)
            #expect(try stored.declaring(whole, for: .store(Self.corner)).isChange == false)

            let full = AttributeChange(deployment: [try definition(11)], stores: [Self.corner: []])
            let error = #expect(throws: CatalogError.self) { try full.declaring(own, for: .store(Self.corner)) }
            guard case .unprocessable(field, let detail)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                continue
            }
            #expect(detail.contains("(got 21)"))
            let reason = Self.conflict { _ = try stored.declaring(try definition(11), for: .deployment) }
            #expect(reason?.contains("corner") == true && reason?.contains("(got 21)") == true)
            #expect(try stored.declaring(try definition(10), for: .deployment).isChange == false)
        }
    }

    @Test("A store keeps its own definition, with new titles, while the deployment declares the same attribute")
    func keptDefinition() throws {
        let own = try Self.declaration("rating", #"{"type":"number","title":{"en":"Stars","de":"Sterne"}}"#)
        let shared = try Self.declaration("rating", #"{"type":"number","title":{"en":"Stars","hr":"Ocjena"}}"#)
        let change = AttributeChange(deployment: [shared], stores: [Self.corner: [own]])
        let titles = try Self.declaration("rating", #"{"title":{"en":"Stars","hr":"Ocjena","fr":"Note"}}"#)
        let declared = try change.declaring(titles, for: .store(Self.corner))
        // Its own title stays, although the deployment's is the same, and the deployment's does not become its own.
        let kept = try Self.declaration("rating", #"{"type":"number","title":{"en":"Stars","fr":"Note"}}"#)
        #expect(declared.new == kept)
        #expect(declared.attribute.definition.title.texts == ["en": "Stars", "hr": "Ocjena", "fr": "Note"])
        #expect(AttributeSet(deployment: [], store: [declared.new]).attributes.map(\.isOfStore) == [true])
        // A definition of another type is not in effect, and titles take its place.
        let other = try Self.declaration("rating", #"{"type":"boolean"}"#)
        let contrary = AttributeChange(deployment: [shared], stores: [Self.corner: [other]])
        let new = try contrary.declaring(titles, for: .store(Self.corner)).new
        #expect(try new == Self.declaration("rating", #"{"title":{"fr":"Note"}}"#))
    }

    @Test("Titles that were left without a definition do not make a reserved name available")
    func leftTitles() throws {
        let left = try Self.declaration("price", #"{"title":{"en":"Price"}}"#)
        let change = AttributeChange(deployment: [], stores: [Self.corner: [left]])
        #expect(throws: CatalogError.self) {
            try change.declaring(try Self.declaration("price", Self.number), for: .store(Self.corner))
        }
    }

    @Test(
        "Only another type, or other parameters that decide about values, change the form",
        arguments: [
            (#"{"type":"number"}"#, #"{"type":"number"}"#, false),
            (#"{"type":"number"}"#, #"{"type":"number","title":{"en":"A"},"unit":"g","natural":"desc"}"#, false),
            (#"{"type":"number"}"#, #"{"type":"number","decimals":1}"#, true),
            (#"{"type":"number"}"#, #"{"type":"text"}"#, true),
            (#"{"type":"set"}"#, #"{"type":"set","values":[{"key":"a"}]}"#, true),
            (
                #"{"type":"enum","values":[{"key":"a"}]}"#,
                #"{"type":"enum","values":[{"key":"a","title":{"en":"A"}}]}"#,
                false
            ),
        ]
    )
    func changedForms(_ old: String, _ new: String, _ isChanged: Bool) throws {
        for owner in [DeclarationOwner.deployment, .store(Self.corner)] {
            let none = AttributeChange(deployment: [], stores: [:])
            #expect(try none.declaring(try Self.declaration("rating", old), for: owner).changesForm)
            let stored = [try Self.declaration("rating", old)]
            let change =
                owner == .deployment
                ? AttributeChange(deployment: stored, stores: [:])
                : AttributeChange(deployment: [], stores: [Self.corner: stored])
            let declared = try change.declaring(try Self.declaration("rating", new), for: owner)
            #expect(declared.changesForm == isChanged && declared.isChange == (old != new) && !declared.isNew)
        }
    }

    @Test("A declaration that a later release stored is listed, counted and kept, and contradicts other types")
    func laterReleases() throws {
        let later = AttributeDeclaration(
            Self.name("colour"),
            stored: try JSONReader.parse(Array(#"{"type":"colour","title":{"en":"Colour"},"space":"rgb"}"#.utf8))
        )
        let numbers = try Self.stored(Dictionary(uniqueKeysWithValues: (0..<63).map { ("n\($0)", Self.number) }))
        for owner in [DeclarationOwner.deployment, .store(Self.corner)] {
            let stored = numbers + [later]
            let change =
                owner == .deployment
                ? AttributeChange(deployment: stored, stores: [Self.corner: []])
                : AttributeChange(deployment: [], stores: [Self.corner: stored])
            #expect(
                Self.conflict { _ = try change.declaring(try Self.declaration("rating", Self.number), for: owner) }
                    != nil
            )
            // Others can change, and it can be replaced or deleted.
            _ = try change.declaring(try Self.declaration("n0", #"{"type":"text"}"#), for: owner)
            #expect(try change.declaring(try Self.declaration("colour", Self.number), for: owner).changesForm)
            #expect(try change.removing(Self.name("colour"), of: owner) == later)
            let other: DeclarationOwner = owner == .deployment ? .store(Self.corner) : .deployment
            let reason = Self.conflict {
                _ = try change.declaring(try Self.declaration("colour", #"{"type":"text"}"#), for: other)
            }
            #expect(reason?.contains("colour") == true)
        }
        let shared = AttributeChange(deployment: [later], stores: [Self.corner: []])
        let titles = try Self.declaration("colour", #"{"title":{"hr":"Boja"}}"#)
        let titled = try shared.declaring(titles, for: .store(Self.corner)).attribute.definition
        #expect(titled.title.texts == ["en": "Colour", "hr": "Boja"])
        let ratio = try Self.declaration("ratio", #"{"type":"ratio","numerator":"colour","denominator":["quantity"]}"#)
        #expect(throws: CatalogError.self) { try shared.declaring(ratio, for: .deployment) }
    }

    @Test("A change that expects another attribute is refused before anything else")
    func expectations() throws {
        let change = AttributeChange(
            deployment: try Self.stored(["rating": Self.number]),
            stores: [Self.corner: try Self.stored(["rating": #"{"title":{"en":"Stars"}}"#])]
        )
        let titles = try Self.declaration("rating", #"{"title":{"en":"Rating"}}"#)
        let shared = try Self.declaration("rating", Self.number)
        for (owner, declaration, text) in [
            (DeclarationOwner.deployment, shared, nil as String?), (.store(Self.corner), titles, "Stars"),
        ] {
            let matches: AttributeExpectation = { $0?.definition.title.texts["en"] == text && $0 != nil }
            let own = owner == .deployment ? [] : change.stores[Self.corner] ?? []
            let current = AttributeSet(deployment: change.deployment, store: own)[Self.name("rating")]
            #expect(current != nil)
            #expect(throws: CatalogError.staleAttribute(current: current)) {
                try change.declaring(declaration, for: owner, expecting: { !matches($0) })
            }
            #expect(throws: CatalogError.staleAttribute(current: current)) {
                try change.removing(Self.name("rating"), of: owner, expecting: { !matches($0) })
            }
            _ = try change.declaring(declaration, for: owner, expecting: matches)
            _ = try change.removing(Self.name("rating"), of: owner, expecting: matches)
            #expect(throws: CatalogError.staleAttribute(current: nil)) {
                try change.removing(Self.name("other"), of: owner, expecting: { $0 != nil })
            }
        }
    }

    // MARK: - Uses

    private static let uses = AttributeUses(settings: 2, shelves: [.init(store: corner, shelf: CatalogKey("tea")!)])

    @Test("An attribute that something uses is not deleted, and does not get another type")
    func usedAttributes() throws {
        let text = try Self.declaration("rating", #"{"type":"text"}"#)
        let titled = try Self.declaration("rating", #"{"type":"number","decimals":2,"title":{"en":"Stars"}}"#)
        for owner in [DeclarationOwner.deployment, .store(Self.corner)] {
            let stored = try Self.stored(["rating": Self.number])
            let change = AttributeChange(
                deployment: owner == .deployment ? stored : [],
                stores: [Self.corner: owner == .deployment ? [] : stored]
            )
            let inUse = CatalogError.inUse(Self.name("rating"), Self.uses)
            #expect(throws: inUse) { try change.declaring(text, for: owner, keepingTypeFor: Self.uses) }
            #expect(throws: inUse) { try change.removing(Self.name("rating"), of: owner, keepingFor: Self.uses) }
            // Other properties, and new attributes, need no confirmation.
            #expect(try change.declaring(titled, for: owner, keepingTypeFor: Self.uses).isChange)
            let other = try Self.declaration("other", #"{"type":"text"}"#)
            #expect(try change.declaring(other, for: owner, keepingTypeFor: Self.uses).isNew)
            #expect(try change.declaring(text, for: owner).isChange)
            #expect(try change.removing(Self.name("rating"), of: owner).name == Self.name("rating"))
        }
    }

    @Test("Deleting a declaration without effect needs no confirmation")
    func deletionsWithoutEffect() throws {
        for own in [#"{"title":{"en":"Stars"}}"#, Self.number] {
            let change = AttributeChange(
                deployment: try Self.stored(["rating": Self.number]),
                stores: [Self.corner: try Self.stored(["rating": own])]
            )
            let name = Self.name("rating")
            #expect(try change.removing(name, of: .store(Self.corner), keepingFor: Self.uses).name == name)
        }
    }

    @Test("A ratio that needs an attribute is a conflict, also if something else uses the attribute")
    func usedOperands() throws {
        let change = AttributeChange(
            deployment: try Self.stored([
                "protein": Self.number,
                "ratio": #"{"type":"ratio","numerator":"price","denominator":["protein"]}"#,
            ]),
            stores: [:]
        )
        let reason = Self.conflict {
            _ = try change.removing(Self.name("protein"), of: .deployment, keepingFor: Self.uses)
        }
        #expect(reason?.contains("the ratio “ratio” uses “protein”") == true)
    }
}
