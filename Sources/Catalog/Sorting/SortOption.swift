/// A sort that a picker offers.
package struct SortOption: Sendable, Hashable {
    package let sort: Sort
    package let title: String
    package let isSelected: Bool
}

extension SortOption {
    /// What a picker shows: every key in its natural direction, prices and names in the other too, and the selected sort
    /// where it is none of these. Exactly one is selected.
    package static func options(selected: Sort, language: Language) -> [SortOption] {
        let offered: [Sort] = SortKey.allCases.flatMap { key -> [Sort] in
            let natural = Sort(key, key.naturalDirection)!
            let turned = [.price, .unitPrice, .name].contains(key) ? Sort(key, key.naturalDirection.opposite) : nil
            return [natural] + (turned.map { [$0] } ?? [])
        }
        let all = offered.contains(selected) ? offered : offered + [selected]
        return all.map { SortOption(sort: $0, title: title(of: $0, language), isSelected: $0 == selected) }
    }

    private static func title(of sort: Sort, _ language: Language) -> String {
        sort.terms.map { title(of: $0, language) }.joined(separator: ", ")
    }

    private static func title(of term: Sort.Term, _ language: Language) -> String {
        let isNatural = term.direction == term.key.naturalDirection
        let (en, ru) =
            switch term.key {
            case .price:
                isNatural ? ("Price: low to high", "Сначала дешёвые") : ("Price: high to low", "Сначала дорогие")
            case .unitPrice:
                isNatural
                    ? ("Unit price: low to high", "Цена за единицу: по возрастанию")
                    : ("Unit price: high to low", "Цена за единицу: по убыванию")
            case .popularity: isNatural ? ("Popularity", "По популярности") : ("Least popular", "Сначала непопулярные")
            case .brand: isNatural ? ("Brand", "По бренду") : ("Brand: Z to A", "По бренду: Я–А")
            case .name: isNatural ? ("Name", "По названию") : ("Name: Z to A", "По названию: Я–А")
            case .created: isNatural ? ("Newest", "Сначала новые") : ("Oldest", "Сначала старые")
            case .modified:
                isNatural
                    ? ("Recently changed", "Недавно изменённые") : ("Least recently changed", "Давно не изменённые")
            case .tags: isNatural ? ("Most tags", "Больше меток") : ("Fewest tags", "Меньше меток")
            case .position: ("Our selection", "Наша подборка")
            }
        return language == .ru ? ru : en
    }
}
