internal import Catalog

/// The columns of a file, and which of them an import reads.
struct FileColumns {
    private let profile: ImportProfile
    private let declared: StoreAttributes
    /// The store of all rows; nil for any.
    private let store: CatalogKey?
    /// Whether the profile is that of another system, whose files may have any columns.
    private let hasNamedProfile: Bool
    /// The titles of the file, and the same as they are compared.
    private(set) var titles: [String] = []
    private var keys: [String] = []
    /// Whether the file has a header; otherwise, its rows name their columns.
    private(set) var hasHeader = true
    /// The indexes of names in a file without a header; nil for those that are not read.
    private var indexes: [String: Int?] = [:]
    /// The titles that stand for all that begin like them, in a file without a header.
    private var prefixes: [ColumnTitle] = []
    /// Whether a row had the column, by index, in a file without a header.
    private var isSeen: [Bool] = []
    /// The indexes of the columns that are read.
    private var used: Set<Int> = []
    /// Where the texts of a row are.
    private(set) var resolved = ResolvedColumns()
    private var conditions: [ResolvedColumns.Condition] = []
    private(set) var variants: VariantTable?
    /// The column of a header that marks rejected rows of variants with the texts of their product.
    private(set) var variantColumn: Int?
    /// The columns of amounts of money that are read from a column of the file, by its index.
    private(set) var amounts: [Int: [ImportColumn]] = [:]
    /// The attributes that are read from a column of the file, by its index.
    private(set) var attributes: [Int: [String]] = [:]
    /// The columns of the file that are read for attributes only, and whose texts are taken whole.
    private(set) var wholeAttributes: Set<Int> = []
    /// The separators of texts of elements that occur several times, by column of the file.
    private(set) var joins: [Int: String] = [:]

    /// The maximum number of names in a file without a header.
    private static let nameLimit = 5000

    init(
        _ profile: ImportProfile,
        declared: StoreAttributes = StoreAttributes(),
        store: CatalogKey? = nil,
        hasNamedProfile: Bool = false
    ) {
        (self.profile, self.declared, self.store) = (profile, declared, store)
        self.hasNamedProfile = hasNamedProfile
    }

    /// Sets the titles of the header.
    ///
    /// - Throws: `unprocessable` for a repeated or missing column. The same for an attribute that is computed, has two columns, or is
    ///   undeclared and would lose its values.
    mutating func setHeader(_ titles: [String]) throws(CatalogError) {
        self.titles = titles
        keys = titles.map(ColumnTitle.key)
        if profile.variants != nil { variantColumn = keys.firstIndex(of: ColumnTitle.key(RejectedRow.variantColumn)) }
        try resolve()
    }

    /// Prepares for rows that name their columns: they have the columns of the mapping.
    ///
    /// Without a named profile, they have all other columns of imports, too.
    mutating func setNoHeader() {
        hasHeader = false
        // Rows without attributes keep the stored attributes, so the column exists only if a row has it.
        let defaults = ImportColumn.allCases.filter { profile.mapping.columns[$0] == nil }.map(profile.mapping.source)
        let sources = Array(profile.mapping.columns.values) + Array(profile.mapping.attributes.values)
        let variants = profile.variants.map { $0.reference + $0.keys.map(\.column) + $0.columns } ?? []
        let named = sources.flatMap(\.titles) + profile.rows.flatMap(\.columns) + variants
        for title in named where !title.isPrefix { add(title) }
        prefixes = named.filter(\.isPrefix)
        for title in defaults.flatMap(\.titles) {
            if !hasNamedProfile, title.text != ImportColumn.attributes.columnName {
                add(title)
            } else {
                prefixes.append(title)
            }
        }
        // Only a header can lack columns, or have one twice.
        try? resolve()
    }

    /// Returns the index of a column that a row names; nil if it is not read, or if there are too many names.
    ///
    /// - Complexity: O(1) for a known name; O(titles of the mapping) for another one.
    mutating func index(of name: String) -> Int? {
        if let known = indexes[name] {
            if let known { isSeen[known] = true }
            return known
        }
        guard name.utf8.count <= ColumnTitle.byteLimit else { return nil }
        let key = ColumnTitle.key(name)
        var index = keys.firstIndex(of: key)
        if index == nil, titles.count < Self.nameLimit, prefixes.contains(where: { $0.matches(key: key) }) {
            index = add(ColumnTitle(name))
            try? resolve()
        }
        if indexes.count < Self.nameLimit { indexes[name] = .some(index) }
        if let index { isSeen[index] = true }
        return index
    }

    /// Adds a title; returns its index.
    @discardableResult
    private mutating func add(_ title: ColumnTitle) -> Int {
        if let known = keys.firstIndex(of: title.key) { return known }
        titles.append(title.text)
        keys.append(title.key)
        isSeen.append(false)
        return titles.count - 1
    }

    /// Whether no row had one of the columns, in a file without a header.
    private func isMissing(_ source: ResolvedColumns.Source?) -> Bool {
        guard let source else { return true }
        return !hasHeader && !source.alternatives.joined().contains { isSeen[$0] }
    }

    /// Checks, at the end of a file without a header, that rows had all columns that must be there.
    func checkRequired() throws(CatalogError) {
        for (column, given) in profile.mapping.columns where given.isRequired && isMissing(resolved.columns[column]) {
            let title = given.titles.first?.text ?? column.columnName
            throw missing(title, "no row has “\(title)”, which is mapped to \(column.columnName)")
        }
    }

    /// The columns of the import that the file has, or that have a constant.
    var found: Set<ImportColumn> {
        var found = Set(resolved.columns.keys)
        if resolved.hasAttributes { found.insert(.attributes) }
        return found
    }

    /// Returns the attributes that the file has in columns of their own for products of a store.
    func attributeNames(of store: CatalogKey) -> [String] {
        let definitions = declared.definitions(in: store)
        return resolved.attributes.filter { !$0.isFoundByTitle || definitions[$0.name] != nil }.map(\.name)
    }

    /// Returns the definitions of an attribute in the stores of the file.
    func definitions(of attribute: String) -> [AttributeDefinition] { declared.definitions(of: attribute, in: store) }

    /// The index of the only column of the file that a column of the import is read from; nil for several or none.
    func index(of column: ImportColumn) -> Int? {
        guard let source = resolved.columns[column], source.alternatives.count == 1, source.alternatives[0].count == 1
        else {
            return nil
        }
        return source.alternatives[0][0]
    }

    /// The indexes of all columns of the file that a column of the import is read from.
    func indexes(of column: ImportColumn) -> [Int] { resolved.columns[column]?.alternatives.flatMap(\.self) ?? [] }

    /// The file's name for a column.
    func title(of column: ImportColumn) -> String? {
        resolved.columns[column]?.alternatives.first.map { $0.map { titles[$0] }.joined(separator: " ") }
    }

    /// The titles that the import does not read.
    var unused: [String] {
        titles.indices.filter { !used.contains($0) && !titles[$0].isEmpty }.map { titles[$0] }
    }

    /// The columns of the profile that the file lacks, by their names in the import.
    var missing: [String] {
        let names = profile.mapping.columns.filter {
            $0.value.constant == nil && !$0.value.alternatives.isEmpty && isMissing(resolved.columns[$0.key])
        }
        return names.map { $0.key.columnName }.sorted()
    }

    /// The column with the references of variants, whose texts the table of variants replaces; nil if it replaces none.
    var referenceColumn: Int? { variants?.reference }

    var hasConditions: Bool { !conditions.isEmpty || variants != nil }

    /// Returns a column that shows that a row is not a product, and the text of this column; nil for a product. The text is from the row
    /// or from its product's row.
    ///
    /// - Parameter product: the texts that the row takes from that of its product.
    func reasonToSkip(
        _ cell: (Int) -> String?,
        _ product: [Int: String]?
    ) -> (column: String, value: String)? {
        for condition in conditions {
            // The text of the product must meet the condition, even if the row has its own.
            let texts = [
                ResolvedColumns.first(condition.columns, cell),
                ResolvedColumns.first(condition.columns) { product?[$0] },
            ].compactMap(\.self)
            for (column, text) in texts.isEmpty ? [(condition.columns[0], "")] : texts
            where !condition.condition.holds(for: text) {
                return (titles[column], text)
            }
        }
        return nil
    }

    /// Adds the row of a product whose variants follow, or returns the texts that a variant takes from its product's row.
    mutating func product(
        of line: Int,
        _ cell: (Int) -> String?
    ) throws(ImportRejection) -> [Int: String]? {
        try variants?.product(of: line, cell)
    }

    // MARK: - Resolving

    private mutating func resolve() throws(CatalogError) {
        var columns: [ImportColumn: ResolvedColumns.Source] = [:]
        for column in ImportColumn.allCases {
            let given = profile.mapping.source(of: column)
            let source = try resolve(given)
            try checkRequired(given, source, column.columnName)
            if !source.isEmpty { columns[column] = source }
        }
        var attributes: [ResolvedColumns.Attribute] = []
        for (name, given) in profile.mapping.attributes.sorted(by: { $0.key < $1.key }) {
            let source = try resolve(given)
            try checkRequired(given, source, "the attribute \(name)")
            // Without a header, a row that lacks a column has no such attribute.
            guard !hasHeader || !source.isEmpty else { continue }
            if hasHeader { try checkComputed(name, given.titles.first?.text ?? name) }
            attributes.append(ResolvedColumns.Attribute(name: name, source: source))
        }
        let attributeColumns = Set(attributes.flatMap(\.source.indexes))
        if profile.mapping.columns[.attributes] == nil, let source = columns[.attributes],
            hasNamedProfile && !attributes.isEmpty || !attributeColumns.isDisjoint(with: source.indexes)
        {
            // The title is that of another system, or the column is mapped to a single attribute.
            columns[.attributes] = nil
        }
        let mapped = attributeColumns.union(profile.mapping.columns.keys.flatMap { columns[$0]?.indexes ?? [] })
        if profile.mapping.columns[.group] == nil, let source = columns[.group],
            !mapped.isDisjoint(with: source.indexes)
        {
            // The title means something else in this file, such as a group of goods that is a shelf.
            columns[.group] = nil
        }
        if hasHeader {
            attributes += try attributesFoundByTitle(
                except: mapped,
                beside: attributes,
                hasObject: columns[.attributes] != nil
            )
        }
        resolved = ResolvedColumns(columns, attributes, hasHeader: hasHeader)
        let inherited = try indexes(of: profile.variants?.columns ?? [])
        conditions = try resolve(profile.rows)
        if let rule = profile.variants, let reference = try firstIndex(rule.reference) {
            var keys: [(column: Int, prefix: String)] = []
            for key in rule.keys {
                if let column = try index(key.column) { keys.append((column, key.prefix)) }
            }
            var table = variants ?? VariantTable(usesKeys: !rule.keys.isEmpty)
            table.set(reference: reference, titles[reference], keys: keys, inherited: inherited.sorted())
            variants = table
        }
        used = Set(columns.values.flatMap(\.indexes) + attributes.flatMap(\.source.indexes))
        used.formUnion(conditions.flatMap(\.columns))
        if let variants { used.formUnion(variants.columns) }
        joins = [:]
        for attribute in attributes {
            guard let separator = separator(of: attribute) else { continue }
            for index in attribute.source.alternatives.joined() { joins[index] = separator }
        }
        // Whatever else reads the element takes its first text.
        let others = attributes.filter { separator(of: $0) == nil }.map(\.source) + Array(columns.values)
        for index in others.flatMap(\.indexes) + conditions.flatMap(\.columns) + (variants?.columns ?? []) {
            joins[index] = nil
        }
        self.attributes = [:]
        for attribute in attributes {
            for index in attribute.source.alternatives.joined() {
                self.attributes[index, default: []].append(attribute.name)
            }
        }
        let otherColumns = columns.values.flatMap(\.indexes) + conditions.flatMap(\.columns) + (variants?.columns ?? [])
        let parts = attributes.map(\.source).filter { !$0.hasWholeTexts }.flatMap(\.indexes)
        wholeAttributes = Set(self.attributes.keys).subtracting(otherColumns).subtracting(parts)
        amounts = [:]
        for column in FieldForms.amounts {
            for index in indexes(of: column) { amounts[index, default: []].append(column) }
        }
    }

    /// Returns the separator of the texts of elements that occur several times; nil if only the first one counts. All elements of a set count.
    private func separator(of attribute: ResolvedColumns.Attribute) -> String? {
        switch attribute.source.part {
        case .all(let separator)?: return separator
        case .first?, .last?: return nil
        case nil:
            let definitions = definitions(of: attribute.name)
            let isSet = definitions.allSatisfy { if case .set = $0.form { true } else { false } }
            return isSet && !definitions.isEmpty ? profile.separators[.tags] ?? "|" : nil
        }
    }

    /// Returns the columns whose titles are names of declared attributes. Their case is ignored.
    ///
    /// - Parameters:
    ///   - used: the indexes of columns that the profile reads as something else.
    ///   - mapped: the attributes that the profile reads.
    ///   - hasObject: whether a column has all attributes. Then the stored value of an attribute whose column is ignored would be lost.
    private func attributesFoundByTitle(
        except used: Set<Int>,
        beside mapped: [ResolvedColumns.Attribute],
        hasObject: Bool
    ) throws(CatalogError) -> [ResolvedColumns.Attribute] {
        var found: [String: Int] = [:]
        for attribute in mapped { found[attribute.name] = attribute.source.alternatives.first?.first }
        for index in titles.indices where !used.contains(index) {
            let title = titles[index].lowercased()
            guard let name = AttributeCells.name(ofTitle: title, key: keys[index]) else { continue }
            if definitions(of: name).isEmpty {
                guard hasObject, AttributeCells.isExplicit(title) else { continue }
                throw .unprocessable(
                    field: titles[index],
                    detail: """
                        the attribute “\(name)” is not declared, so its values would be lost, because the column of all attributes \
                        replaces them; declare it before the import
                        """
                )
            }
            try checkComputed(name, titles[index])
            if let other = found[name] {
                throw .unprocessable(
                    field: titles[index],
                    detail: """
                        the file has the columns “\(titles[other])” and “\(titles[index])” for the attribute “\(name)”; keep only one
                        """
                )
            }
            if profile.mapping.attributes[name] == nil { found[name] = index }
        }
        for attribute in mapped { found[attribute.name] = nil }
        return found.sorted { $0.key < $1.key }.map { name, index in
            let source = ResolvedColumns.Source(ColumnSource([[ColumnTitle(titles[index])]]), [[index]], [])
            let isExplicit = AttributeCells.isExplicit(titles[index].lowercased())
            return ResolvedColumns.Attribute(name: name, source: source, isFoundByTitle: true, isExplicit: isExplicit)
        }
    }

    /// - Throws: `unprocessable` for an attribute that no store reads from a file.
    private func checkComputed(_ name: String, _ title: String) throws(CatalogError) {
        guard declared.isComputed(name, in: store) else { return }
        throw .unprocessable(
            field: title,
            detail:
                "the attribute “\(name)” is computed from other values, so a file cannot set it; remove the column “\(title)”"
        )
    }

    private func resolve(_ source: ColumnSource) throws(CatalogError) -> ResolvedColumns.Source {
        var alternatives: [[Int]] = []
        for alternative in source.alternatives {
            var indexes: [Int] = []
            for (place, title) in alternative.enumerated() {
                // The first column of several decides whether the alternative counts.
                guard let index = try index(title) else {
                    if place == 0 { break }
                    continue
                }
                indexes.append(index)
            }
            if !indexes.isEmpty { alternatives.append(indexes) }
        }
        // A constant in place of a column that counts only in some rows is not the constant of a column that is missing.
        if hasHeader, alternatives.isEmpty, !source.alternatives.isEmpty, !source.conditions.isEmpty {
            return ResolvedColumns.Source(ColumnSource([]), [], [])
        }
        return ResolvedColumns.Source(source, alternatives, try resolve(source.conditions))
    }

    /// Returns the conditions on columns that the file has.
    private func resolve(_ conditions: [RowCondition]) throws(CatalogError) -> [ResolvedColumns.Condition] {
        var resolved: [ResolvedColumns.Condition] = []
        for condition in conditions {
            let columns = try indexes(of: condition.columns)
            if !columns.isEmpty { resolved.append(ResolvedColumns.Condition(columns: columns, condition: condition)) }
        }
        return resolved
    }

    /// Checks that the header has the column that a source needs.
    private func checkRequired(_ given: ColumnSource, _ source: ResolvedColumns.Source, _ target: String)
        throws(CatalogError)
    {
        guard hasHeader, given.isRequired, source.alternatives.isEmpty, let title = given.alternatives.first?.first
        else { return }
        throw missing(title.text, "the file has no column “\(title.text)”, which is mapped to \(target)")
    }

    private func indexes(of titles: [ColumnTitle]) throws(CatalogError) -> [Int] {
        var indexes: [Int] = []
        for title in titles {
            if let index = try index(title) { indexes.append(index) }
        }
        return indexes
    }

    private func firstIndex(_ titles: [ColumnTitle]) throws(CatalogError) -> Int? {
        for title in titles {
            if let index = try index(title) { return index }
        }
        return nil
    }

    private func index(_ title: ColumnTitle) throws(CatalogError) -> Int? {
        let places = keys.indices.filter { title.matches(key: keys[$0]) }
        guard places.count <= 1 || !hasHeader else {
            throw .unprocessable(
                field: title.text,
                detail: "the file has the column “\(title.text)” \(places.count) times; keep only one"
            )
        }
        return places.first
    }

    func missing(_ field: String, _ detail: String) -> CatalogError {
        .unprocessable(
            field: field,
            detail: "\(detail). Columns of the file: \(titles.map(\.visible).joined(separator: ", ").prefix(400))"
        )
    }
}
