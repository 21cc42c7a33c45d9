import Catalog
import CatalogJSON
import JSON
import TestSupport
import Testing

@Suite("Options of pickers", .timeLimit(.minutes(15))) struct PickerOptionsTests {
    @Test(
        "A picker offers each sort once, with the selected one, under titles that differ",
        arguments: Language.allCases
    )
    func sorts(language: Language) throws {
        for selected in Sort.allSingle + [try Sort.parse("brand,-price")] {
            let options = SortOption.options(selected: selected, language: language)
            #expect(options.filter(\.isSelected).map(\.sort) == [selected])
            #expect(Set(options.map(\.sort)).count == options.count)
            #expect(Set(options.map(\.title)).count == options.count)
        }
    }

    @Test("The title of a sort by several keys names all of them")
    func severalKeys() throws {
        let options = SortOption.options(selected: try Sort.parse("brand,-price"), language: .en)
        #expect(options.last?.title == "Brand, Price: high to low")
    }

    @Test("A picker offers each filter under a title of its own, with the values that are selected")
    func filters() throws {
        let selected = try #require(try Filter { $0 == .brand ? ["Brand"] : [] })
        for language in Language.allCases {
            let options = FilterOption.options(selected: selected, language: language)
            #expect(options.map(\.key) == FilterKey.allCases)
            #expect(Set(options.map(\.title)).count == options.count)
            #expect(options.filter { $0.selected != .null }.map(\.key) == [.brand])
        }
    }

    @Test("A picker offers attributes under their titles in the reader's language", arguments: Language.allCases)
    func attributes(language: Language) throws {
        let attributes = PickerAttributes(TitledAttributes(.sample), languages: ["hr-HR", "en"])
        #expect(attributes.resolved == .sample)
        let selected = try Sort.parse("-rating").resolved(in: .sample)
        let sorts = SortOption.options(selected: selected, language: language, attributes: attributes)
        #expect(sorts.filter(\.isSelected).map(\.sort) == [selected])
        #expect(Set(sorts.map(\.title)).count == sorts.count && Set(sorts.map(\.sort)).count == sorts.count)
        let titles = Dictionary(uniqueKeysWithValues: sorts.map { ($0.sort.description, $0.title) })
        #expect(titles["-rating"] == (language == .en ? "Ime rating: high to low" : "Ime rating: по убыванию"))
        #expect(titles["rating"] != nil && titles["origin"] == "Ime origin" && titles["allergens"] == nil)
        // Numbers and dates are offered in both directions.
        let own = attributes.resolved.all.filter(\.isSortable)
        let both = Set(own.map(\.name.text).filter { titles[$0] != nil && titles["-\($0)"] != nil })
        let ordered = own.filter { attribute in
            switch attribute.form {
            case .number, .date, .ratio: true
            case .enumeration, .set, .text, .boolean, .unknown: false
            }
        }
        #expect(both == Set(ordered.map(\.name.text)) && both.count < own.count)
        #expect(titles["-harvest"] == (language == .en ? "Ime harvest: latest first" : "Ime harvest: сначала поздние"))
        let filter = try Filter(query: "rating_min=4.0&allergens_none=n").resolved(in: .sample)
        let filters = FilterOption.options(selected: filter, language: language, attributes: attributes)
        #expect(Set(filters.map(\.title)).count == filters.count)
        #expect(filters.count == FilterKey.allCases.count + ResolvedAttributes.sample.filterKeys.count)
        #expect(
            filters.filter { $0.selected != .null }.map { "\($0.key.name) \($0.selected.text)" } == [
                #"allergens_none ["n"]"#, #"rating_min "4""#,
            ]
        )
        let grade = try #require(filters.first { $0.key.name == "grade" })
        #expect(
            grade.values?.map(\.value) == ["d", "a", "b", "c"] && grade.key.form.name == "enum"
                && grade.key.form.isRepeatable
        )
        #expect(filters.first { $0.key.name == "labels_any" }?.values == nil)
        #expect(filters.first { $0.key.name == "rating_min" }?.key.form.isRepeatable == false)
    }
}
