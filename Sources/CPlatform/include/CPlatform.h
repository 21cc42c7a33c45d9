#pragma once
#include <spawn.h>
#include <stddef.h>

/// Names the calling thread; at most 15 bytes are kept.
void aisle_name_thread(const char *name);

/// Writes one line to stderr when the process dies of a fatal signal: signal, version, build ID and address. Then the
/// default action follows.
///
/// `version` is copied, at most 63 bytes of it. Call it once, early. The calling thread is prepared; others call
/// `aisle_prepare_thread_for_crashes`.
void aisle_report_crashes(const char *version);

/// Returns the build ID of the executable in hexadecimal; empty if it has none.
const char *aisle_build_id(void);

/// Gives the calling thread an alternate stack for fatal signals, so that a stack overflow is reported, too. Does nothing
/// if the thread already has one.
void aisle_prepare_thread_for_crashes(void);

/// Closes every descriptor from `first` on in the child, after the previous actions. Returns an error number.
int aisle_close_descriptors_from(posix_spawn_file_actions_t *actions, int first);

/// Limits the number of arenas from which the threads of the process allocate memory, unless MALLOC_ARENA_MAX is set. Does nothing
/// without glibc.
void aisle_limit_arenas(int count);

/// Keeps OpenSSL, if the process has loaded it, from freeing its state when the process exits: other threads may still be opening
/// connections then, and would crash. Call it before the first connection.
void aisle_keep_tls_until_exit(void);
