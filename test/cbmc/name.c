/*
 * Any text is parsed in its bounds. A part is the most bytes that it has.
 */
#include "lib/core/name.h"
#include "test/cbmc/prove.h"

static char text[PART + 1];

int main(void)
{
    for (int i = 0; i < PART; i++)
        text[i] = nondet_char();
    struct pdk__name name = pdk__name_parse(text);
    PROVE(name.kind != PDK__NAME_JUNK || name.sequence == 0, "junk has no number");
    PROVE(name.kind == PDK__NAME_FOREIGN || !name.kazoo, "kazoo's is a foreign one");
    PROVE(name.kind == PDK__NAME_OURS || name.kind == PDK__NAME_CURATOR || name.tag == 0, "another has no tag");
    PROVE(name.kind == PDK__NAME_OURS || (name.session == 0 && name.attempt == 0), "another has no session");
    PROVE(name.tag < PDK__N_TAGS, "a tag is known");
    REACH(name.kind == PDK__NAME_JUNK);
    REACH(name.kind == PDK__NAME_FOREIGN && name.kazoo);
    REACH(name.kind == PDK__NAME_CURATOR && name.sequence < 0);
    REACH(name.kind == PDK__NAME_OURS && name.tag == PDK__TAG_WRITE);
}
