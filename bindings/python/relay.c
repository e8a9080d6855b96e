/*
 * The tests' proxy for tests in Python: relay PORT.
 *
 * It relays to the server on PORT of the loopback interface, and prints its own port. It obeys lines, and answers each
 * with "ok" when it is in effect:
 *
 *     cut-request OP PATH  the first OP (test/lib/frame.h) that mentions PATH: cut the connection before it
 *     cut-reply OP PATH    cut the connection before the reply to it
 *     refuse               accept no connections; those that exist stay
 *     hold                 nothing goes to the server or to the client
 *     clear                end all of these
 *
 * It ends with its input.
 */
#include "test/lib/proxy.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void hold(pdk__proxy *p, bool is_held)
{
    pdk__proxy_hold(p, PDK__TO_SERVER, is_held);
    pdk__proxy_hold(p, PDK__TO_CLIENT, is_held);
}

static void cut(pdk__proxy *p, int op, const char *path, pdk__act act)
{
    pdk__proxy_rule(p, &(struct pdk__proxy_rule){.op = op, .path = path, .act = act});
}

static bool obey(pdk__proxy *p, const char *line)
{
    int op;
    char path[256];
    if (sscanf(line, "cut-request %d %255s", &op, path) == 2)
        cut(p, op, path, PDK__CUT_BEFORE);
    else if (sscanf(line, "cut-reply %d %255s", &op, path) == 2)
        cut(p, op, path, PDK__CUT_BEFORE_REPLY);
    else if (strcmp(line, "refuse\n") == 0)
        pdk__proxy_refuse(p, true);
    else if (strcmp(line, "hold\n") == 0)
        hold(p, true);
    else if (strcmp(line, "clear\n") == 0)
        pdk__proxy_clear(p);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 64;
    pdk__proxy *p = pdk__proxy_new(atoi(argv[1]), false);
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("%d\n", pdk__proxy_port(p));
    char line[320];
    while (fgets(line, sizeof line, stdin) != NULL)
        puts(obey(p, line) ? "ok" : "unknown");
    pdk__proxy_free(p);
    return 0;
}
