internal import CatalogJSON
package import Catalog

extension CatalogStore {
    /// The ids of all pages, from the first on.
    package func allPages(_ first: PageRequest) async throws -> [String] {
        var ids: [String] = []
        var request = first
        while true {
            let page = try await self.page(request)
            ids += page.products.map(\.sku.text)
            guard let next = page.next, ids.count < 1000 else { return ids }
            request.after = next
        }
    }
}
