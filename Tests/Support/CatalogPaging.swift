package import Catalog
internal import CatalogJSON

extension PageStore {
    /// Returns the ids of all pages, starting with the first.
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
