/* go-zookeeper's Lock and ours at the end of a path's numbers. doc/interop.md has measured the rest. */
#include "interop.h"
#include "peer.h"
#include "test/lib/check.h"

#define PATH "/interop/end"

static void start(const char *path)
{
    (void)path; /* each command names it */
    peer_start_go(pdk__server_port(server));
}

static void ours_comes_after_the_end(void)
{
    across_the_end(PATH, start,
                   &(struct dialogue){"lock/0 try " PATH " 60000", "lock/0 held", "lock/0 free", "lock/0 freed"});
}

static void set_up(void)
{
    interop_open();
    peer_build_go(pdk__server_dir(server));
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"ours comes after the end of the path's numbers, and waits for go-zookeeper", ours_comes_after_the_end}, {0}};
    return pdk__test_main(
        argc, argv,
        &(struct pdk__test_suite){.name = "go", .tests = tests, .setup = set_up, .teardown = interop_close});
}
