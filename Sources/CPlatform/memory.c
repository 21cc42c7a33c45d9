#include "CPlatform.h"
#include <malloc.h>
#include <stdlib.h>

void aisle_limit_arenas(int count) {
#ifdef M_ARENA_MAX
    if (getenv("MALLOC_ARENA_MAX") == NULL)
        mallopt(M_ARENA_MAX, count);
#else
    (void)count;
#endif
}
