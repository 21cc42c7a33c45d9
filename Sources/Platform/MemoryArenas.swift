internal import CPlatform

/// The parts of the heap from which threads allocate memory.
package enum MemoryArenas {
    /// Limits their number, unless MALLOC_ARENA_MAX is set. Call it before the first thread starts.
    ///
    /// By default, glibc gives almost every thread an arena of its own. One thread allocates an entry of a cache, and another frees it. So
    /// each arena keeps unused memory between the remaining entries.
    package static func limit(_ count: Int) { aisle_limit_arenas(Int32(clamping: count)) }
}
