import Ordering

// A merchandiser arranges a shelf. Each product has an ordering key, and a move changes only the key of the moved product.

/// A row of a table. Store `key.bytes`: sorted as bytes, the rows are in order.
struct Row {
    let id: String
    let key: PathKey
}

struct Shelf {
    private var rows: [Row]

    var ids: [String] { rows.map(\.id) }
    var keys: [PathKey] { rows.map(\.key) }

    /// Creates a shelf whose keys leave room between them.
    init(_ ids: [String]) {
        rows = zip(ids, PathKey.appending(ids.count, after: nil)).map { Row(id: $0, key: $1) }
    }

    /// Inserts products after a neighbour, or at the front. No other product gets a new key.
    mutating func insert(_ ids: [String], after neighbour: String?) throws {
        let place = neighbour == nil ? 0 : rows.firstIndex { $0.id == neighbour }! + 1
        let left = place > 0 ? rows[place - 1].key : nil
        let right = place < rows.count ? rows[place].key : nil
        let keys = try PathKey.between(left, right, count: ids.count)
        rows.insert(contentsOf: zip(ids, keys).map { Row(id: $0, key: $1) }, at: place)
    }

    mutating func move(_ id: String, after neighbour: String?) throws {
        rows.removeAll { $0.id == id }
        try insert([id], after: neighbour)
    }

    func show(_ title: String) {
        print("\(title):")
        for row in rows {
            print("  \(row.key.bytes.map { String($0, radix: 16) }.joined(separator: " "))  \(row.id)")
        }
    }
}

var shelf = Shelf(["milk", "butter", "yoghurt", "cheese"])
shelf.show("a new shelf")

try shelf.move("cheese", after: "milk")
shelf.show("cheese dragged after milk")

try shelf.insert(["cream", "kefir", "quark"], after: "cheese")
shelf.show("three products inserted after cheese")

// Keys grow if many moves end in one gap. The first three products change places there 400 times.
for move in 1...400 {
    let (first, second, third) = (shelf.ids[0], shelf.ids[1], shelf.ids[2])
    if move.isMultiple(of: 2) {
        try shelf.move(third, after: first)
    } else {
        try shelf.move(first, after: second)
    }
}
print("400 moves into one gap: a key of \(shelf.keys.map(\.length).max()!) bytes")

// Compaction gives the same order new keys.
if shelf.keys.contains(where: \.isLong) { shelf = Shelf(shelf.ids) }
print("compacted: at most \(shelf.keys.map(\.length).max()!) bytes")

// The minimal moves to another order are also the fewest keys to write.
let target = shelf.ids.sorted()
let diff = MoveDiff(from: shelf.ids, to: target)
print("to sort by name, move \(diff.moves.count) of \(target.count) products:")
for place in diff.moves.map({ Int($0.to) }) {
    let neighbour = place > 0 ? target[place - 1] : nil
    try shelf.move(target[place], after: neighbour)
    print("  \(target[place]) after \(neighbour ?? "nothing")")
}
print("sorted: \(shelf.ids == target)")
