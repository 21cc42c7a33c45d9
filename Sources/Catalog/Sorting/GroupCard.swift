/// The group that a product represents where each group has one card. A product without a group represents itself.
package struct GroupCard: Sendable, Hashable {
    /// The number of products of the group that match the filter and the search.
    package var matching: Int
    /// The number of products of the group on the shelf.
    package var total: Int
    /// The first of the matching products in order; nil unless a request asks for them.
    package var members: [Product]?

    /// The maximum number of members in a card.
    package static let memberLimit = 20

    package init(matching: Int, total: Int, members: [Product]? = nil) {
        (self.matching, self.total, self.members) = (matching, total, members)
    }

    /// The beginning of the ids of groups. SKUs contain no slash.
    package static let idPrefix = "group/"
}

/// A product that an order shows.
package struct ShownProduct: Sendable, Hashable {
    /// The id in the order: the SKU, or that of the group that the product represents.
    package let id: String
    package let product: Product
    /// nil unless groups are collapsed.
    package let card: GroupCard?

    package init(_ product: Product, card: GroupCard? = nil) {
        (self.product, self.card) = (product, card)
        id = card == nil ? product.sku.text : product.cardID
    }
}

extension Product {
    /// The id in orders with collapsed groups.
    package var cardID: String { group.map { GroupCard.idPrefix + $0 } ?? sku.text }
}
