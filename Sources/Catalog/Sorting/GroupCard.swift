/// The group that a product represents where each group has one card. A product without a group represents itself.
package struct GroupCard: Sendable, Hashable {
    /// The number of products of the group that match the filter and the search.
    package var matching: Int
    /// The number of products of the group on the shelf.
    package var total: Int

    /// The maximum number of members that a page has for a card.
    package static let memberLimit = 20

    package init(matching: Int, total: Int) { (self.matching, self.total) = (matching, total) }

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
    /// The first of the group's matching products, beginning with the representative; nil unless a request asks for them.
    package let members: [Product]?

    package init(_ product: Product, card: GroupCard? = nil, members: [Product]? = nil) {
        (self.product, self.card, self.members) = (product, card, members)
        id = card == nil ? product.sku.text : product.cardID
    }
}

extension Product {
    /// The id in orders with collapsed groups.
    package var cardID: String { group.map { GroupCard.idPrefix + $0 } ?? sku.text }
}
