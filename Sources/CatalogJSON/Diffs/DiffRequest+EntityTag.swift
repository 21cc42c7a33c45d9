package import Catalog

extension DiffRequest {
    /// Returns the entity tag of the diff between two orders of a shelf: it changes with everything that the response
    /// depends on.
    ///
    /// - Parameters:
    ///   - mediaType: the format of the response.
    ///   - day: the UTC day to which the popularity of products is scaled.
    /// - Returns: nil for a diff from a list, and for a transition between remembered sorts. Also nil for a sort or filter by an attribute
    ///   that the store does not have.
    package func entityTag(_ basis: PageBasis, mediaType: String, day: Int = Timestamp.now().day) -> String? {
        guard case .sort(let from) = from, transition == nil else { return nil }
        func resolve(_ requested: RequestedSort) -> ResolvedSort? {
            try? basis.head.resolve(
                requested,
                remembering: basis.sorts,
                allowsPositions: basis.union == nil,
                attributes: basis.attributes
            )
        }
        guard let from = resolve(from), let to = resolve(to) else { return nil }
        return entityTag(
            basis.head,
            basis.union,
            from: from,
            to: to,
            mediaType: mediaType,
            day: day
        )
    }

    /// Returns the entity tag of a computed diff.
    package func entityTag(_ diff: OrderDiff, mediaType: String, day: Int = Timestamp.now().day) -> String? {
        guard let from = diff.fromResolvedSort, let reached = diff.targetOrder else { return nil }
        return entityTag(
            reached.head,
            reached.union,
            from: from,
            to: reached.resolvedSort,
            mediaType: mediaType,
            day: day
        )
    }

    private func entityTag(
        _ head: ShelfHead,
        _ union: ShelfUnion?,
        from: ResolvedSort,
        to: ResolvedSort,
        mediaType: String,
        day: Int
    ) -> String {
        var hash = FNV64()
        // With a limit, a diff has products and a cursor. Earlier versions had no Link header, and no group of a product.
        for part in [
            head.text(of: from), head.text(of: to), limit.map { "\($0) \(day) link" } ?? "", mode.rawValue, mediaType,
        ] {
            hash.combine(part)
        }
        if let union { hash.combine(union.digest) }
        return "\"diff-\(head.storeVersion)-\(head.state.version)-\(String(hash.value, radix: 36))\""
    }
}
