/// A filter that a picker offers.
package struct FilterOption: Sendable, Hashable {
    package let key: FilterKey
    package let title: String
    /// What the caller's remembered filter has of it; null for nothing.
    package let selected: JSONValue

    package static func options(selected filter: Filter, language: Language) -> [FilterOption] {
        let json = filter.json
        return FilterKey.allCases.map { key in
            FilterOption(key: key, title: title(of: key, language), selected: json[key.name] ?? .null)
        }
    }

    private static func title(of key: FilterKey, _ language: Language) -> String {
        let (en, ru) =
            switch key {
            case .brand: ("Brand", "Бренд")
            case .tag: ("Tag", "Метка")
            case .inStock: ("In stock", "В наличии")
            case .priceMin: ("Price from", "Цена от")
            case .priceMax: ("Price up to", "Цена до")
            case .unitPriceMax: ("Unit price up to", "Цена за единицу до")
            case .createdAfter: ("New since", "Новинки с")
            case .createdBefore: ("In the range before", "В продаже до")
            case .modifiedAfter: ("Changed since", "Изменено с")
            case .modifiedBefore: ("Not changed since", "Не менялось с")
            case .dimension: ("Sold by", "Продаётся на")
            }
        return language == .ru ? ru : en
    }
}

extension FilterKey {
    /// The form's name in the API.
    package var typeName: String {
        switch form {
        case .texts: "text"
        case .flag: "boolean"
        case .amount: "amount"
        case .amountPerQuantity: "amount_per_quantity"
        case .moment: "time"
        case .dimensions: "dimension"
        }
    }
}
