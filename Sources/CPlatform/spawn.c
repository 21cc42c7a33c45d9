#define _GNU_SOURCE
#include "CPlatform.h"

int aisle_close_descriptors_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}
