/* The page of a run. */
#ifndef CHAOS_REPORT_H
#define CHAOS_REPORT_H

#include "test/chaos/findings.h"
#include <stdio.h>

void draw_timeline(const struct evidence *e, FILE *out);

#endif
