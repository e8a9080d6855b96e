/* The asserts of a state, as assumptions of the state before a step. */
#include "lib/assert.h"
#undef assert
#define assert(condition) __CPROVER_assume(condition)
#define pdk__phase_check assume_phase_check
#define pdk__phase_name assume_phase_name
#define pdk__phase_grants assume_phase_grants
#define pdk__phase_first assume_phase_first
#define pdk__phase_keeps_watch assume_phase_keeps_watch
#include "lib/core/phase.c"
