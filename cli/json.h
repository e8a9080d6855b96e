/* JSON for programs, on standard output. */
#ifndef PDK_CLI_JSON_H
#define PDK_CLI_JSON_H

#include <jansson.h>

/* Put TEXT into OBJECT, or at the end of ARRAY; null when it is not UTF-8: a program can handle "unknown", but not half
 * a name. */
void pdk__cli_json_text(json_t *object, const char *key, const char *text);
void pdk__cli_json_append(json_t *array, const char *text);

/* OBJECT in one line with its newline, of *SIZE bytes; OBJECT is released. The caller frees it. All that is not ASCII
 * is escaped, and so are control characters: the line may meet a terminal before it meets a program. NULL when memory
 * is out. */
char *pdk__cli_json_line(json_t *object, size_t *size);

/* Print that line. Returns 0 or an exit status, already explained. */
int pdk__cli_json_print(json_t *object);

#endif
