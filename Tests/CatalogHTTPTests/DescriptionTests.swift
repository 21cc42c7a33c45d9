import JSON
import Catalog
import CatalogJSON
import Foundation
import HTTPTypes
import Site
import TestSupport
import Testing

@testable import CatalogHTTP

/// The OpenAPI description and the pages match the definitions in the code.
@Suite(.timeLimit(.minutes(15))) struct DescriptionTests {
    private let document: JSONValue

    init() throws { document = try JSONReader.parse(OpenAPI.document) }

    /// A value by its path of member names.
    private func value(_ path: String) -> JSONValue? {
        path.split(separator: "/").reduce(document) { value, name in value?[String(name)] }
    }

    private func texts(_ value: JSONValue?) -> [String] {
        (value?.elements ?? []).compactMap(\.string)
    }

    /// Enumerations without a type of their own.
    private static let otherEnumerations: Set<String> = [
        "schemas/JSONPatchOperation/properties/op", "schemas/PlaceAtEnd", "parameters/include/schema",
        "parameters/setting_if_none_match/schema", "headers/ContentEncoding/schema",
    ]

    @Test("An enumeration has the cases of its type")
    func enumerationsFollow() {
        let prefix = "/components/"
        let described = objects.filter { $0.path.hasPrefix(prefix) && $0.members.contains { $0.name == "enum" } }
        let generated = OpenAPI.enumerations.map(\.path)
        #expect(
            Set(described.map { String($0.path.dropFirst(prefix.count)) })
                == Set(generated).union(Self.otherEnumerations),
            "list the enumeration in OpenAPI+Lists.swift"
        )
    }

    @Test("The pattern of sorts accepts every key", arguments: SortKey.allCases)
    func sortKeysAreAccepted(_ key: SortKey) throws {
        let pattern = try Regex(try #require(value("components/schemas/SortText/pattern")?.string))
        #expect(key.name.wholeMatch(of: pattern) != nil)
        #expect(("-" + key.name).wholeMatch(of: pattern) != nil || !key.isReversible)
    }

    @Test("The operations list every problem type among the responses with its status")
    func problemTypesAreListed() throws {
        var listed: Set<String> = []
        for path in try #require(document["paths"]?.members) {
            for response in (path.value.members ?? []).flatMap({ $0.value["responses"]?.members ?? [] }) {
                let component = response.value["$ref"]?.string?.split(separator: "/").last ?? ""
                let text = (response.value["description"] ?? value("components/responses/\(component)/description"))?
                    .string
                let names = text?.split(separator: "Problem types: ", maxSplits: 1).dropFirst().last ?? ""
                for name in names.matches(of: /`([a-z-]+)`/) { listed.insert("\(response.name) \(name.1)") }
            }
        }
        // A path, and not an operation, does not support a method.
        let kinds = ProblemKind.allCases.filter { $0 != .methodNotAllowed }
        #expect(listed == Set(kinds.map { "\($0.status.code) \($0.rawValue)" }))
    }

    @Test("A product has the same fields in a PUT and in a PATCH, and shows all of them")
    func productFieldsAgree() {
        func fields(_ schema: String) -> Set<String> {
            Set(value("components/schemas/\(schema)/properties")?.members?.map(\.name) ?? [])
        }
        #expect(!fields("ProductInput").isEmpty && fields("ProductInput") == fields("ProductPatch"))
        #expect(fields("ProductInput").isSubset(of: fields("Product")))
    }

    @Test("The guides have a row for each sort key, filter and problem type")
    func guidesHaveRows() throws {
        func rows(_ guide: String) throws -> [Substring] {
            let text = String(decoding: try #require(Guide.all.first { $0.name == guide }).markdown, as: UTF8.self)
            return text.split(separator: "\n").filter { $0.hasPrefix("| `") }.map {
                $0.dropFirst(2).prefix { $0 != "|" }
            }
        }
        let (sorting, filters, errors) = (try rows("sorting"), try rows("filters"), try rows("errors"))
        for key in SortKey.allCases { #expect(sorting.contains { $0.contains("`\(key.name)`") }, "\(key)") }
        for key in FilterKey.allCases { #expect(filters.contains { $0.contains("`\(key.name)`") }, "\(key)") }
        for kind in ProblemKind.allCases { #expect(errors.contains { $0.contains("`\(kind.rawValue)`") }, "\(kind)") }
    }

    /// All objects of the document, with their paths.
    private var objects: [(path: String, members: [(name: String, value: JSONValue)])] {
        var found: [(String, [(name: String, value: JSONValue)])] = []
        func visit(_ value: JSONValue, _ path: String) {
            switch value {
            case .object(let members):
                found.append((path, members.map { ($0.name, $0.value) }))
                for member in members where !["example", "examples"].contains(member.name) {
                    visit(member.value, "\(path)/\(member.name)")
                }
            case .array(let elements):
                for (index, element) in elements.enumerated() { visit(element, "\(path)/\(index)") }
            default: break
            }
        }
        visit(document, "")
        return found
    }

    @Test("Every operation has an id, a tag, a summary, a description, and only explicit statuses")
    func operationsAreComplete() throws {
        let tags = Set((document["tags"]?.elements ?? []).compactMap { $0["name"]?.string })
        var ids: [String] = []
        for path in try #require(document["paths"]?.members) {
            for operation in path.value.members ?? [] {
                let place = "\(operation.name) \(path.name)"
                ids.append(try #require(operation.value["operationId"]?.string, "\(place)"))
                #expect(
                    Set(texts(operation.value["tags"])).isSubset(of: tags) && operation.value["tags"] != nil,
                    "\(place)"
                )
                #expect(operation.value["summary"]?.string?.hasSuffix(".") == false, "\(place)")
                #expect(operation.value["description"]?.string?.hasSuffix(".") == true, "\(place)")
                let statuses = (operation.value["responses"]?.members ?? []).map(\.name)
                #expect(statuses.contains { $0.hasPrefix("2") } && !statuses.contains("default"), "\(place)")
            }
        }
        #expect(Set(ids).count == ids.count)
    }

    @Test("Every property, parameter and schema has a description")
    func everythingIsDescribed() throws {
        var count = 0
        for (path, members) in objects {
            let parts = path.split(separator: "/")
            let isProperty = parts.dropLast().last == "properties"
            let isSchema = parts.count == 3 && parts.starts(with: ["components", "schemas"])
            let isParameter = parts.dropLast().last == "parameters"
            guard isProperty || isSchema || isParameter else { continue }
            count += 1
            #expect(members.contains { $0.name == "description" || $0.name == "$ref" }, "\(path)")
        }
        #expect(count > 300)
    }

    @Test("Every reference leads to a component of the named kind")
    func referencesLead() throws {
        var count = 0
        func visit(_ node: JSONValue) throws {
            if let target = node["$ref"]?.string {
                count += 1
                #expect(value(target.dropFirst(2).description)?.members != nil, "\(target)")
            }
            for member in node.members ?? [] { try visit(member.value) }
            for element in node.elements ?? [] { try visit(element) }
        }
        try visit(document)
        #expect(count > 500)
    }

    @Test("Every request body of JSON has an example, in its schema or in those of its alternatives")
    func bodiesHaveExamples() throws {
        func hasExample(_ schema: JSONValue?) -> Bool {
            guard let schema else { return false }
            if schema["examples"] != nil { return true }
            if let name = schema["$ref"]?.string?.split(separator: "/").last {
                return hasExample(value("components/schemas/\(name)"))
            }
            let alternatives = (schema["oneOf"] ?? schema["anyOf"])?.elements ?? schema["items"].map { [$0] } ?? []
            return !alternatives.isEmpty && alternatives.allSatisfy { hasExample($0) }
        }
        for path in try #require(document["paths"]?.members) {
            for operation in path.value.members ?? [] {
                for content in operation.value["requestBody"]?["content"]?.members ?? []
                where content.name.hasSuffix("json") {
                    guard !content.name.hasSuffix("ndjson") else { continue }
                    #expect(hasExample(content.value["schema"]), "\(operation.name) \(path.name)")
                }
            }
        }
    }

    @Test("The description has exactly the fields of a product")
    func productFieldsMatch() throws {
        let store = Store(key: CatalogKey("shop")!, title: "Shop", currency: Currency("EUR")!)
        let bytes = JSONWriter.document { ProductPresentation(store: store).write(.complete, shelves: [], to: &$0) }
        let written = try #require(try JSONReader.parse(bytes).members)
        let described = try #require(value("components/schemas/Product/properties")?.members)
        #expect(Set(described.map(\.name)) == Set(written.map(\.name)))
    }

    @Test("The description of requests has every field that clients set", arguments: ["ProductInput", "ProductPatch"])
    func requestFieldsMatch(_ schema: String) throws {
        let fields = try Product.complete.members()
        let described = try #require(value("components/schemas/\(schema)/properties")?.members)
        #expect(Set(described.map(\.name)) == Set(fields.map(\.name) + ["currency"]))
    }

    @Test("The description names the scope of each operation")
    func scopesMatch() async throws {
        let described = AuthorizationTests.operations.filter { $0.scope != nil }
        let pairs = described.map { ("\($0.method) \($0.path)", $0.scope!) }
        #expect(Dictionary(uniqueKeysWithValues: pairs) == (await MemoryAPI().api.requiredScopes))
    }

    /// `make openapi` sets the variable to the path of the file, to write it.
    @Test("openapi.json has the paths and lists that follow from the code, and its layout")
    func documentFollowsFromTheCode() async throws {
        let generated = try OpenAPI.document(await MemoryAPI().api.table.endpoints)
        if let path = ProcessInfo.processInfo.environment["AISLE_RECORD_OPENAPI"] {
            try Data(generated.utf8).write(to: URL(filePath: path))
        } else {
            let (lines, recorded) = (
                generated.split(separator: "\n"),
                String(decoding: OpenAPI.document, as: UTF8.self).split(separator: "\n")
            )
            let difference = zip(lines, recorded).first { $0 != $1 }
            #expect(
                difference == nil && lines.count == recorded.count,
                "run: make openapi, which writes “\(difference?.0 ?? "")” instead of “\(difference?.1 ?? "")”"
            )
        }
    }

    @Test("Every parameter of an endpoint is a component with its name and place")
    func parametersMatch() async throws {
        for parameter in await MemoryAPI().api.table.endpoints.flatMap({ $0.operation?.parameters ?? [] }) {
            let component = value("components/parameters/\(parameter.component)")
            #expect(component?["name"] == .string(parameter.name), "\(parameter.component)")
            #expect(component?["in"] == .string(parameter.place.rawValue), "\(parameter.component)")
        }
    }
}
