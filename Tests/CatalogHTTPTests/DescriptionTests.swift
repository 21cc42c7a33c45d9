import Catalog
import CatalogJSON
import Foundation
import TestSupport
import Testing

@testable import CatalogHTTP

/// The OpenAPI description and the pages match the definitions in the code.
@Suite(.timeLimit(.minutes(1))) struct DescriptionTests {
    private let document: JSONValue

    init() throws { document = try JSONReader.parse(OpenAPI.document) }

    /// A value by its path of member names.
    private func value(_ path: String) -> JSONValue? {
        path.split(separator: "/").reduce(document) { value, name in value?[String(name)] }
    }

    private func texts(_ value: JSONValue?) -> [String] {
        (value?.elements ?? []).compactMap(\.string)
    }

    private static let enumerations: [(path: String, values: [String])] = [
        ("parameters/shelf_sort/schema", ShelfSort.allCases.map(\.rawValue)),
        ("parameters/list_sort/schema", ListSort.allCases.map(\.rawValue)),
        ("parameters/filter_dimension/schema/items", Dimension.allCases.map(\.rawValue)),
        ("schemas/Sort/properties/source", SortSource.allCases.map(\.rawValue)),
        ("schemas/Store/properties/unit_pricing", UnitPricing.allCases.map(\.rawValue)),
        ("schemas/Store/properties/sold_out", SoldOut.allCases.map(\.rawValue)),
        ("schemas/Store/properties/popularity_metric", PopularityMetric.allCases.map(\.rawValue)),
        ("schemas/Shelf/properties/dimension", Dimension.allCases.map(\.rawValue)),
        ("schemas/Shelf/properties/sold_out", SoldOut.allCases.map(\.rawValue)),
        ("schemas/Size/properties/unit", MeasureUnit.allCases.map(\.rawValue)),
        ("schemas/ItemSort", ListItemSort.allCases.map(\.rawValue)),
        ("schemas/List/properties/role", ListRole.allCases.map(\.rawValue)),
    ]

    @Test("An enumeration has the cases of its type", arguments: enumerations)
    func enumerationsMatch(_ path: String, _ values: [String]) {
        #expect(texts(value("components/\(path)/enum")) == values)
    }

    @Test("Every diff mode parameter lists the modes of the code")
    func diffModesMatch() throws {
        let paths = try #require(document["paths"]?.members)
        var found = 0
        for path in paths {
            guard case .object(let operations) = path.value else { continue }
            for operation in operations {
                guard case .array(let parameters)? = operation.value["parameters"] else { continue }
                for parameter in parameters where parameter["name"] == .string("mode") {
                    #expect(Set(texts(parameter["schema"]?["enum"])) == Set(DiffMode.allCases.map(\.rawValue)))
                    found += 1
                }
            }
        }
        #expect(found > 0)
    }

    @Test("Every filter is a parameter, and there are no others")
    func filtersMatch() throws {
        let parameters = try #require(value("components/parameters")?.members)
        let described = parameters.filter { $0.name.hasPrefix("filter_") }.compactMap { $0.value["name"] }
        #expect(described == FilterKey.allCases.map { .string($0.name) })
    }

    @Test("The sort parameter describes every sort key", arguments: SortKey.allCases)
    func sortKeysAreExplained(_ key: SortKey) throws {
        let text = try #require(value("components/parameters/sort/description")?.string)
        #expect(text.contains("\(key.name): \(key.summary)"))
    }

    @Test("The facets parameter lists every facet", arguments: Facet.allCases)
    func facetsAreNamed(_ facet: Facet) throws {
        let text = try #require(value("components/parameters/facets/description")?.string)
        #expect(text.contains(facet.rawValue))
    }

    @Test("The description has exactly the fields of a product")
    func productFieldsMatch() throws {
        let store = Store(key: CatalogKey("shop")!, title: "Shop", currency: Currency("EUR")!)
        let bytes = JSONWriter.document { ProductPresentation(store: store).write(.complete, shelves: [], to: &$0) }
        let written = try #require(try JSONReader.parse(bytes).members)
        let described = try #require(value("components/schemas/Product/properties")?.members)
        #expect(Set(described.map(\.name)) == Set(written.map(\.name)))
    }

    @Test("The description names the scope of each operation")
    func scopesMatch() async throws {
        let described = AuthorizationTests.operations.filter { $0.scope != nil }
        let pairs = described.map { ("\($0.method) \($0.path)", $0.scope!) }
        #expect(Dictionary(uniqueKeysWithValues: pairs) == (await MemoryAPI().api.requiredScopes))
    }

    @Test("The description has exactly the operations of the endpoint table")
    func operationsMatch() async throws {
        let api = await MemoryAPI().api
        let paths = try #require(document["paths"]?.members)
        var described: Set<String> = []
        for path in paths {
            guard case .object(let operations) = path.value else { continue }
            for operation in operations { described.insert("\(operation.name.uppercased()) \(path.name)") }
        }
        #expect(described.subtracting(api.documentedOperations).sorted() == [])
        #expect(api.documentedOperations.subtracting(described).sorted() == [])
    }
}
