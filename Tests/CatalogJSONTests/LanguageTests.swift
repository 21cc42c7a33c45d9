import Catalog
import CatalogJSON
import JSON
import Testing

@Suite("Languages and titles") struct LanguageTests {
    @Test(
        "The language of a header is the one with the highest quality, the first of several, and English by default",
        arguments: [
            (nil, .en), ("", .en), ("*", .en), ("de", .en), ("ru", .ru), ("RU", .ru), ("ru-RU", .ru), ("rus", .en),
            ("en, ru", .en), ("ru, en", .ru), ("en;q=0.5, ru;q=0.6", .ru), ("en;q=0.6, ru;q=0.5", .en),
            ("ru;q=0.5,en;q=0.5", .ru), ("ru;q=0", .en), ("en;q=0,ru;q=0.1", .ru), ("en;q=0.9, ru", .ru),
            ("en; q=0.1, ru; q=0.2", .ru), ("ru;level=1;q=0.1, en;q=0.2", .en), (";q=1, ru", .ru), ("ru;q=x", .ru),
            (String(repeating: "de,", count: 31) + "ru", .ru), (String(repeating: "de,", count: 32) + "ru", .en),
        ] as [(String?, Language)]
    )
    func accepts(_ header: String?, _ language: Language) {
        #expect(Language(accepting: header) == language)
    }

    @Test("Each sort has its title in both languages, and pickers offer them in one order")
    func sorts() {
        let expected = [
            ("price", "Price: low to high", "Сначала дешёвые"), ("-price", "Price: high to low", "Сначала дорогие"),
            ("unit_price", "Unit price: low to high", "Цена за единицу: по возрастанию"),
            ("-unit_price", "Unit price: high to low", "Цена за единицу: по убыванию"),
            ("-popularity", "Popularity", "По популярности"), ("brand", "Brand", "По бренду"),
            ("name", "Name", "По названию"), ("-name", "Name: Z to A", "По названию: в обратном порядке"),
            ("-created", "Newest", "Сначала новые"), ("-modified", "Recently changed", "Недавно изменённые"),
            ("-tags", "Most tags", "Больше меток"), ("position", "Our selection", "Наша подборка"),
        ]
        let english = SortOption.options(selected: .system, language: .en)
        #expect(english.map(\.sort.description) == expected.map(\.0))
        #expect(english.map(\.title) == expected.map(\.1))
        #expect(SortOption.options(selected: .system, language: .ru).map(\.title) == expected.map(\.2))
    }

    @Test(
        "The reversed sorts have titles, too",
        arguments: [
            ("popularity", "Least popular", "Сначала непопулярные"),
            ("-brand", "Brand: Z to A", "По бренду: в обратном порядке"), ("created", "Oldest", "Сначала старые"),
            ("modified", "Least recently changed", "Давно не изменённые"), ("tags", "Fewest tags", "Меньше меток"),
            ("price,-name", "Price: low to high, Name: Z to A", "Сначала дешёвые, По названию: в обратном порядке"),
        ]
    )
    func reversedSorts(_ sort: String, _ english: String, _ russian: String) throws {
        let selected = try Sort.parse(sort)
        for (language, title) in [(.en, english), (.ru, russian)] as [(Language, String)] {
            let option = SortOption.options(selected: selected, language: language).last
            #expect(option?.sort == selected)
            #expect(option?.title == title)
            #expect(option?.isSelected == true)
        }
    }

    @Test("Each filter has its title in both languages")
    func filters() throws {
        let expected: [(FilterKey, String, String)] = [
            (.brand, "Brand", "Бренд"), (.tag, "Tag", "Метка"),
            (.tagsAll, "All of the tags", "Все эти метки"), (.tagsNone, "None of the tags", "Ни одной из меток"),
            (.inStock, "In stock", "В наличии"),
            (.priceMin, "Price from", "Цена от"), (.priceMax, "Price up to", "Цена до"),
            (.unitPriceMax, "Unit price up to", "Цена за единицу до"), (.createdAfter, "Added since", "Добавлено с"),
            (.createdBefore, "Added before", "Добавлено до"), (.modifiedAfter, "Changed since", "Изменено с"),
            (.modifiedBefore, "Not changed since", "Не менялось с"), (.dimension, "Sold by", "Единица измерения"),
        ]
        let english = FilterOption.options(selected: .none, language: .en)
        #expect(english.map(\.key) == expected.map(\.0))
        #expect(english.map(\.title) == expected.map(\.1))
        #expect(english.allSatisfy { $0.selected == .null })
        #expect(FilterOption.options(selected: .none, language: .ru).map(\.title) == expected.map(\.2))
    }

    @Test(
        "The tags of a header are in the order of preference",
        arguments: [
            (nil, []), ("", []), ("hr", ["hr"]), ("de;q=0.5, hr-HR, en;q=0.9", ["hr-HR", "en", "de"]),
            ("en;q=0, *, x!y, ru", ["ru"]), ("a1;q=0.5,b2;q=0.5", ["a1", "b2"]),
        ] as [(String?, [String])]
    )
    func tags(_ header: String?, _ expected: [String]) { #expect(Language.tags(accepting: header) == expected) }
}
