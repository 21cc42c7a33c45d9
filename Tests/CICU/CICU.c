#include "CICU.h"
#include <unicode/ucol.h>

AisleCollator *aisle_collator_open(const char *locale) {
    UErrorCode status = U_ZERO_ERROR;
    UCollator *collator = ucol_open(locale, &status);
    return U_FAILURE(status) ? NULL : (AisleCollator *)collator;
}

void aisle_collator_close(AisleCollator *collator) { ucol_close((UCollator *)collator); }

int aisle_collator_compare(const AisleCollator *collator, const char *a, int32_t a_length, const char *b, int32_t b_length) {
    UErrorCode status = U_ZERO_ERROR;
    return ucol_strcollUTF8((const UCollator *)collator, a, a_length, b, b_length, &status);
}
