#pragma once
#include <stdint.h>

// ICU's collation behind six functions: its own headers clash with those of Foundation's ICU, so they stay in the C file.
typedef struct AisleCollator AisleCollator;

/// The collator of a locale, which compares numbers by value, or NULL. An unknown language has the root collation.
AisleCollator *aisle_collator_open(const char *locale);
void aisle_collator_close(AisleCollator *collator);
/// Negative, zero or positive; the texts are UTF-8.
int aisle_collator_compare(const AisleCollator *collator, const char *a, int32_t a_length, const char *b, int32_t b_length);
/// Writes the sort key of a UTF-8 text, without its final zero, and returns its length, also if it exceeds the capacity. Returns −1 for a text
/// in another encoding than UTF-8, or without memory for the key.
int32_t aisle_collator_key(const AisleCollator *collator, const char *text, int32_t length, uint8_t *key, int32_t capacity);
/// The locale whose rules a collator has, such as `root` for a language without rules of its own; NULL if it is unknown.
const char *aisle_collator_locale(const AisleCollator *collator);
/// Writes the versions of ICU and of the collator's rules, four bytes each.
void aisle_collator_version(const AisleCollator *collator, uint8_t version[8]);
