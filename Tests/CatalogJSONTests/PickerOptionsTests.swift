import Catalog
import CatalogJSON
import JSON
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
}
