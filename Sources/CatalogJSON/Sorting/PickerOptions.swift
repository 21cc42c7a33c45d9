package import Catalog
package import JSON

/// A sort that a picker offers.
package struct SortOption: Sendable, Hashable {
    package let sort: Sort
    package let title: String
    package let isSelected: Bool
}

extension SortOption {
    /// Returns the picker's options: every key in its natural direction, price and name in both, and the selected sort
    /// if it is none of these. Exactly one is selected.
    package static func options(selected: Sort, language: Language) -> [SortOption] {
        let singleKeySorts: [Sort] = SortKey.allCases.flatMap { key -> [Sort] in
            let natural = Sort(key, key.naturalDirection)!
            let reversed = [.price, .unitPrice, .name].contains(key) ? Sort(key, key.naturalDirection.opposite) : nil
            return [natural] + (reversed.map { [$0] } ?? [])
        }
        let all = singleKeySorts.contains(selected) ? singleKeySorts : singleKeySorts + [selected]
        return all.map { SortOption(sort: $0, title: title(of: $0, language), isSelected: $0 == selected) }
    }

    private static func title(of sort: Sort, _ language: Language) -> String {
        sort.terms.map { language.text($0.titles) }.joined(separator: ", ")
    }
}

/// A filter that a picker offers.
package struct FilterOption: Sendable, Hashable {
    package let key: FilterKey
    package let title: String
    /// The key's values in the caller's remembered filter; null if it has none.
    package let selected: JSONValue

    package static func options(selected filter: Filter, language: Language) -> [FilterOption] {
        let json = filter.json
        return FilterKey.allCases.map { key in
            FilterOption(key: key, title: language.text(key.titles), selected: json[key.name] ?? .null)
        }
    }
}

// MARK: - Titles

extension Sort.Term {
    /// The titles of the key in its direction.
    fileprivate var titles: Texts {
        let isNatural = direction == key.naturalDirection
        return switch key {
        case .price:
            isNatural ? ("Price: low to high", "Сначала дешёвые") : ("Price: high to low", "Сначала дорогие")
        case .unitPrice:
            isNatural
                ? ("Unit price: low to high", "Цена за единицу: по возрастанию")
                : ("Unit price: high to low", "Цена за единицу: по убыванию")
        case .popularity:
            isNatural ? ("Popularity", "По популярности") : ("Least popular", "Сначала непопулярные")
        case .brand: isNatural ? ("Brand", "По бренду") : ("Brand: Z to A", "По бренду: в обратном порядке")
        case .name: isNatural ? ("Name", "По названию") : ("Name: Z to A", "По названию: в обратном порядке")
        case .created: isNatural ? ("Newest", "Сначала новые") : ("Oldest", "Сначала старые")
        case .modified:
            isNatural ? ("Recently changed", "Недавно изменённые") : ("Least recently changed", "Давно не изменённые")
        case .tags: isNatural ? ("Most tags", "Больше меток") : ("Fewest tags", "Меньше меток")
        case .position: ("Our selection", "Наша подборка")
        }
    }
}

extension FilterKey {
    fileprivate var titles: Texts {
        switch self {
        case .brand: ("Brand", "Бренд")
        case .tag: ("Tag", "Метка")
        case .inStock: ("In stock", "В наличии")
        case .priceMin: ("Price from", "Цена от")
        case .priceMax: ("Price up to", "Цена до")
        case .unitPriceMax: ("Unit price up to", "Цена за единицу до")
        case .createdAfter: ("Added since", "Добавлено с")
        case .createdBefore: ("Added before", "Добавлено до")
        case .modifiedAfter: ("Changed since", "Изменено с")
        case .modifiedBefore: ("Not changed since", "Не менялось с")
        case .dimension: ("Sold by", "Единица измерения")
        }
    }
}
