internal import CPlatform

/// The parts of the heap from which threads allocate memory.
package enum MemoryArenas {
    /// Limits their number. Call it before the first thread starts.
    ///
    /// By default, glibc gives almost each thread an arena of its own. Entries of caches come from one thread and are freed by another, so each
    /// arena keeps unused memory between its entries.
    package static func limit(_ count: Int) { aisle_limit_arenas(Int32(clamping: count)) }
}
