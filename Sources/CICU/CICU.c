#include "CICU.h"
#include <stdlib.h>
#include <unicode/ucol.h>
#include <unicode/ustring.h>

AisleCollator *aisle_collator_open(const char *locale) {
    UErrorCode status = U_ZERO_ERROR;
    UCollator *collator = ucol_open(locale, &status);
    if (U_FAILURE(status)) return NULL;
    ucol_setAttribute(collator, UCOL_NUMERIC_COLLATION, UCOL_ON, &status);
    if (U_SUCCESS(status)) return (AisleCollator *)collator;
    ucol_close(collator);
    return NULL;
}

void aisle_collator_close(AisleCollator *collator) { ucol_close((UCollator *)collator); }

int aisle_collator_compare(const AisleCollator *collator, const char *a, int32_t a_length, const char *b, int32_t b_length) {
    UErrorCode status = U_ZERO_ERROR;
    return ucol_strcollUTF8((const UCollator *)collator, a, a_length, b, b_length, &status);
}

int32_t aisle_collator_key(const AisleCollator *collator, const char *text, int32_t length, uint8_t *key, int32_t capacity) {
    UErrorCode status = U_ZERO_ERROR;
    UChar local[512];
    UChar *units = local;
    int32_t count = 0;
    // A text has at most as many UTF-16 units as bytes.
    if (length > 512 && !(units = malloc(sizeof(UChar) * (size_t)length))) return -1;
    u_strFromUTF8(units, length > 512 ? length : 512, &count, text, length, &status);
    int32_t size = U_FAILURE(status) ? 0 : ucol_getSortKey((const UCollator *)collator, units, count, key, capacity);
    if (units != local) free(units);
    return size - 1;
}

const char *aisle_collator_locale(const AisleCollator *collator) {
    UErrorCode status = U_ZERO_ERROR;
    const char *locale = ucol_getLocaleByType((const UCollator *)collator, ULOC_ACTUAL_LOCALE, &status);
    return U_FAILURE(status) ? NULL : locale;
}

void aisle_collator_version(const AisleCollator *collator, uint8_t version[8]) {
    u_getVersion(version);
    ucol_getVersion((const UCollator *)collator, version + 4);
}
