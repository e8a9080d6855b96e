#include "test/chaos/faults.h"

#define NAME(id, name, sort) name,
static const char *const names[] = {FAULTS(NAME)};

#define SORT(id, name, sort) SORT_##sort,
static const enum fault_sort sorts[] = {FAULTS(SORT)};

const char *fault_name(enum fault_id id) { return (unsigned)id < N_FAULTS ? names[id] : "?"; }

enum fault_sort fault_sort(enum fault_id id) { return sorts[id]; }

bool fault_needs_messages(enum fault_id id) { return id >= FAULT_REQUEST_LOST && id <= FAULT_REPLY_HELD; }
