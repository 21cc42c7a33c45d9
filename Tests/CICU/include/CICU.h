#pragma once
#include <stdint.h>

// The system's ICU, the library that PostgreSQL links, behind three functions: its own headers clash with those of
// Foundation's ICU, so they stay in the C file.
typedef struct AisleCollator AisleCollator;

/// The collator of a locale, or NULL.
AisleCollator *aisle_collator_open(const char *locale);
void aisle_collator_close(AisleCollator *collator);
/// Negative, zero or positive; the texts are UTF-8.
int aisle_collator_compare(const AisleCollator *collator, const char *a, int32_t a_length, const char *b, int32_t b_length);
