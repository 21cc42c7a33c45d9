import AisleDiff
import FoundationEssentials  // On Apple's platforms: Foundation.

// A client that keeps a shelf on screen. Standard input has the responses of a server, each on a line: a page, then diffs.

/// The part of a product that this client shows. Other members of the JSON are ignored.
struct Product: Decodable {
    let sku: String
    let name: String
}

/// A page of a shelf: the response to `GET …/products`.
struct Page: Decodable {
    let version: Int64
    let products: [Product]
}

struct Screen {
    /// The version of the shelf that is shown; nil if the page must be read.
    private var version: Int64?
    private var products: [Product] = []

    mutating func show(_ page: Page) {
        version = page.version
        products = page.products
        print("page: \(names)")
    }

    mutating func apply(_ diff: ShelfDiff<Product>) {
        // A diff applies to one list only. If its base is another one, or if the server no longer knows the base and sends
        // the whole order, then there is a gap.
        guard case .moves(let moves, let inserts) = diff.content, diff.fromVersion == version,
            moves.oldCount == products.count
        else {
            version = nil
            return print("gap: read the page again")
        }
        print("diff:")
        // The indexes of a step refer to the list at that step. Inserts come in the order of the new list.
        var entering = inserts.makeIterator()
        for step in moves.steps() {
            switch step {
            case .delete(let index):
                print("  delete \(index): \(products.remove(at: index).name)")
            case .insert(let index, _):
                let insert = entering.next()!
                products.insert(insert.product ?? Product(sku: insert.id, name: insert.id), at: index)
                print("  insert \(index): \(products[index].name)")
            case .move(let from, let to):
                products.insert(products.remove(at: from), at: to)
                print("  move \(from) → \(to): \(products[to].name)")
            }
        }
        // The data of these products has changed, such as a price. Read them again: GET …/products?sku=…
        for index in moves.changed { print("  refresh \(index): \(products[Int(index)].name)") }
        version = diff.toVersion
        print("  shown: \(names)")
    }

    private var names: String { products.map(\.name).joined(separator: ", ") }
}

var screen = Screen()
while let line = readLine() {
    // An event stream has the JSON in lines that start with “data: ”.
    let json = Data(line.trimmingPrefix("data: ").utf8)
    guard json.first == UInt8(ascii: "{") else { continue }
    if let page = try? JSONDecoder().decode(Page.self, from: json) {
        screen.show(page)
    } else {
        screen.apply(try JSONDecoder().decode(ShelfDiff<Product>.self, from: json))
    }
}
