package import Catalog
package import JSON

/// A sort that a picker offers.
package struct SortOption: Sendable, Hashable {
    package let sort: Sort
    package let title: String
    package let isSelected: Bool
}

/// The attributes of a store with their titles, in the languages of a reader.
package struct PickerAttributes: Sendable {
    fileprivate let all: [(attribute: ResolvedAttribute, definition: AttributeDefinition)]
    private let languages: [String]

    package static let none = PickerAttributes(TitledAttributes(.none), languages: [])

    /// - Parameter languages: BCP 47 tags, the preferred ones first.
    package init(_ attributes: TitledAttributes, languages: [String]) {
        self.languages = languages
        resolved = attributes.resolved
        let definitions = Dictionary(uniqueKeysWithValues: attributes.set.attributes.map { ($0.name, $0.definition) })
        all = resolved.all.compactMap { attribute in definitions[attribute.name].map { (attribute, $0) } }
    }

    /// The attributes that sorts and filters can have.
    package let resolved: ResolvedAttributes

    fileprivate func title(_ name: AttributeName) -> String {
        all.first { $0.attribute.name == name }?.definition.title.text(in: languages) ?? name.text
    }

    /// The declared values with their titles; nil for an attribute without any.
    fileprivate func values(_ definition: AttributeDefinition) -> [FilterOption.Value]? {
        let options = definition.form.options
        if options.isEmpty { return nil }
        return options.map { FilterOption.Value(value: $0.key, title: $0.title.text(in: languages) ?? $0.key) }
    }
}

extension SortOption {
    /// Returns the picker's options: every key in its natural direction, price, name, numbers and dates in both, and the selected sort
    /// if it is none of these. Exactly one is selected.
    package static func options(
        selected: Sort,
        language: Language,
        attributes: PickerAttributes = .none
    ) -> [SortOption] {
        let own = attributes.all.map(\.attribute).filter(\.isSortable).map { SortKey.attribute(.resolved($0)) }
        let singleKeySorts: [Sort] = (SortKey.allCases + own).flatMap { key -> [Sort] in
            let natural = Sort(key, key.naturalDirection)!
            let reversed = key.isOfferedReversed ? Sort(key, key.naturalDirection.opposite) : nil
            return [natural] + (reversed.map { [$0] } ?? [])
        }
        let all = singleKeySorts.contains(selected) ? singleKeySorts : singleKeySorts + [selected]
        return all.map { sort in
            let titles = sort.terms.map { language.text($0.titles(attributes)) }
            return SortOption(sort: sort, title: titles.joined(separator: ", "), isSelected: sort == selected)
        }
    }
}

extension SortKey {
    fileprivate var isOfferedReversed: Bool {
        guard let form = attribute?.form else { return [.price, .unitPrice, .name].contains(self) }
        switch form {
        case .number, .date, .ratio: return true
        case .enumeration, .set, .text, .boolean, .unknown: return false
        }
    }
}

/// A filter that a picker offers.
package struct FilterOption: Sendable, Hashable {
    /// A value that an attribute declares.
    package struct Value: Sendable, Hashable {
        package let value: String
        package let title: String
    }

    package let key: FilterKey
    package let title: String
    /// The key's values in the caller's remembered filter; null if it has none.
    package let selected: JSONValue
    /// The declared values of an attribute; nil if there are none.
    package var values: [Value]?

    package static func options(
        selected filter: Filter,
        language: Language,
        attributes: PickerAttributes = .none
    ) -> [FilterOption] {
        let json = filter.json
        let builtIn = FilterKey.allCases.map { key in
            FilterOption(key: key, title: language.text(key.titles), selected: json[key.name] ?? .null)
        }
        let own = attributes.all.flatMap { attribute, definition in
            definition.form.operators.map { condition in
                let key = FilterKey.attribute(.resolved(attribute), condition)
                return FilterOption(
                    key: key,
                    title: language.text(condition.titles(attributes.title(attribute.name))),
                    selected: json[key.name] ?? .null,
                    values: attributes.values(definition)
                )
            }
        }
        return builtIn + own
    }
}

// MARK: - Titles

extension Sort.Term {
    /// The titles of the key in its direction.
    fileprivate func titles(_ attributes: PickerAttributes) -> Texts {
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
        case .relevance, .closeness: ("Relevance", "По релевантности")
        case .attribute(let attribute):
            Self.titles(
                attributes.title(attribute.name),
                attribute.resolved?.form,
                isAscending: direction == .ascending
            )
        }
    }

    /// The titles of an attribute in a direction.
    private static func titles(_ title: String, _ form: AttributeForm?, isAscending: Bool) -> Texts {
        switch form {
        case .number, .ratio:
            isAscending
                ? ("\(title): low to high", "\(title): по возрастанию")
                : ("\(title): high to low", "\(title): по убыванию")
        case .date:
            isAscending
                ? ("\(title): oldest first", "\(title): сначала ранние")
                : ("\(title): latest first", "\(title): сначала поздние")
        case .enumeration, .set, .text, .boolean, .unknown, nil:
            isAscending ? (title, title) : ("\(title): reversed", "\(title): в обратном порядке")
        }
    }
}

extension AttributeOperator {
    /// The titles of a filter by an attribute.
    fileprivate func titles(_ title: String) -> Texts {
        switch self {
        case .equals: (title, title)
        case .atLeast: ("\(title) from", "\(title) от")
        case .atMost: ("\(title) up to", "\(title) до")
        case .anyOf: ("\(title): any of", "\(title): любое из")
        case .allOf: ("\(title): all of", "\(title): все из")
        case .noneOf: ("\(title): none of", "\(title): ничего из")
        }
    }
}

extension FilterKey {
    fileprivate var titles: Texts {
        switch self {
        case .brand: ("Brand", "Бренд")
        case .tag: ("Tag", "Метка")
        case .tagsAll: ("All of the tags", "Все эти метки")
        case .tagsNone: ("None of the tags", "Ни одной из меток")
        case .inStock: ("In stock", "В наличии")
        case .priceMin: ("Price from", "Цена от")
        case .priceMax: ("Price up to", "Цена до")
        case .unitPriceMax: ("Unit price up to", "Цена за единицу до")
        case .createdAfter: ("Added since", "Добавлено с")
        case .createdBefore: ("Added before", "Добавлено до")
        case .modifiedAfter: ("Changed since", "Изменено с")
        case .modifiedBefore: ("Not changed since", "Не менялось с")
        case .dimension: ("Sold by", "Единица измерения")
        // Their titles follow from that of the attribute.
        case .attribute(let attribute, _): (attribute.name.text, attribute.name.text)
        }
    }
}
