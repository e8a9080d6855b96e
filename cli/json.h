/* JSON for programs, on standard output. */
#ifndef PDK_CLI_JSON_H
#define PDK_CLI_JSON_H

#include <jansson.h>

/* Print OBJECT in one line, and release it. All that is not ASCII is escaped, and so are control characters: the line
 * may meet a terminal before it meets a program. Returns 0 or an exit status, already explained. */
int pdk__cli_json_print(json_t *object);

#endif
