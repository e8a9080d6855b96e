/* paddock doctor, by tables: paths on which nothing is wrong, as the libraries and tools of the field build them, and
 * paths with one fault. All are built by raw requests. */
#include "test/cli/cli.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of each library, without the number. */
#define OURS "0123456789abcdef-0000000"
#define CURATOR "_c_8612d63e-bf96-4b12-a950-74da4d73b8e"
#define KAZOO "0123456789abcdef0123456789abcde"
#define GO "_c_0123456789abcdef0123456789abcde"
#define RECIPE "x-0100001e4e83000"

/* The data of our nodes. */
#define WRITTEN(pid, more)                                                                                             \
    "{\"host\":\"db7\",\"pid\":" #pid ",\"thread\":1,\"label\":\"\",\"machine\":\"0123456789abcdef\"" more "}"
#define CONFIRMED ",\"confirmed\":true"
#define DELAY ",\"lock_delay_ms\":5000"
#define LIMIT(n) ",\"limit\":" #n

/* A path: its nodes, each "e NAME DATA" for an ephemeral one, "s" for one that stays, "u" for one that may not be read;
 * at last "a PERMISSIONS" of everybody for the path. */
struct site {
    const char *what;
    const char *nodes[5];
    const char *recipe;
    const char *finding; /* its code, and a part of its text */
    const char *says;
};

#define HEALTHY(what, recipe, ...)                                                                                     \
    {                                                                                                                  \
        what, {__VA_ARGS__}, recipe, NULL, NULL                                                                        \
    }
#define FAULT(what, recipe, code, says, ...)                                                                           \
    {                                                                                                                  \
        what, {__VA_ARGS__}, recipe, code, says                                                                        \
    }

static struct program c;

static void stand(const char *path, const char *node)
{
    char name[128];
    const char *end = strchrnul(node + 2, ' ');
    const char *data = *end != '\0' ? end + 1 : "";
    snprintf(name, sizeof name, "%.*s", (int)(end - node - 2), node + 2);
    if (*node == 'e')
        cli_make_ephemeral(path, name, data);
    else if (*node == 's')
        cli_make(path, name, data);
    else if (*node == 'a')
        cli_permit(path, name);
    else
        cli_make_unreadable(path, name, data);
}

static void build(const struct site *s, const char *path)
{
    cli_make_path(path);
    for (size_t i = 0; i < sizeof s->nodes / sizeof *s->nodes && s->nodes[i] != NULL; i++)
        stand(path, s->nodes[i]);
}

static const char *text(const json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found != NULL ? found : "";
}

static void judge(const struct site *s, const json_t *report)
{
    const json_t *findings = json_object_get(report, "findings"), *first = json_array_get(findings, 0);
    bool right = json_array_size(findings) == (s->finding != NULL) && strcmp(text(report, "recipe"), s->recipe) == 0;
    if (right && s->finding != NULL)
        right = strcmp(text(first, "code"), s->finding) == 0 && strstr(text(first, "text"), s->says) != NULL &&
                strlen(text(first, "advice")) > 10;
    if (!right)
        pdk__test_fail(__FILE__, __LINE__, "%s: %s", s->what, c.out);
}

static void examine(const struct site *s)
{
    char path[128];
    strcpy(path, cli_path("site"));
    build(s, path);
    CHECK_EQ(cli_run(&c, ARGS("doctor", "--json", path)), s->finding != NULL);
    json_t *top = json_loads(c.out, 0, NULL);
    CHECK(top != NULL);
    CHECK_STR(c.err, "");
    judge(s, json_array_get(json_object_get(top, "paths"), 0));
    json_decref(top);
}

static void nothing_is_wrong(void)
{
    static const struct site sites[] = {
        /* Paddock */
        HEALTHY("an empty path", "none", NULL),
        HEALTHY("a mutex that is held", "mutex", "e " OURS "1-lock-0000000000 " WRITTEN(1, "")),
        HEALTHY("a mutex with waiters", "mutex", "e " OURS "1-lock-0000000000 " WRITTEN(1, ""),
                "e " OURS "2-lock-0000000001 " WRITTEN(2, ""), "e " OURS "3-lock-0000000002 " WRITTEN(3, "")),
        HEALTHY("confirmed grants", "mutex", "e " OURS "1-lock-0000000000 " WRITTEN(1, CONFIRMED),
                "e " OURS "2-lock-0000000001 " WRITTEN(2, CONFIRMED)),
        HEALTHY("lock delays", "mutex", "e " OURS "1-lock-0000000000 " WRITTEN(1, DELAY),
                "e " OURS "2-lock-0000000001 " WRITTEN(2, DELAY)),
        HEALTHY("the program's own data beside an identity", "mutex", "e " OURS "1-lock-0000000000 job=4",
                "e " OURS "2-lock-0000000001 " WRITTEN(2, CONFIRMED)),
        HEALTHY("no data", "mutex", "e " OURS "1-lock-0000000000", "e " OURS "2-lock-0000000001"),
        HEALTHY("a holder that was asked for it", "mutex", "e " OURS "1-lock-0000000000 __REVOKE__ " WRITTEN(1, "")),
        HEALTHY("candidates of a latch", "leader", "e " OURS "1-latch-0000000003 db7:1",
                "e " OURS "2-latch-0000000004 db8:1"),
        HEALTHY("readers", "rwlock", "e " OURS "1-__READ__0000000000", "e " OURS "2-__READ__0000000001"),
        HEALTHY("a writer among readers", "rwlock", "e " OURS "1-__READ__0000000000", "e " OURS "2-__WRIT__0000000001",
                "e " OURS "3-__READ__0000000002"),
        HEALTHY("a writer that reads, too", "rwlock", "e " OURS "1-__WRIT__0000000007",
                "e " OURS "2-__READ__0000000007"),
        HEALTHY("a mutex beside a read/write lock", "rwlock", "e " OURS "1-lock-0000000000",
                "e " OURS "2-__READ__0000000001", "e " OURS "3-__WRIT__0000000002"),
        HEALTHY("a semaphore", "semaphore", "s locks", "s leases"),
        HEALTHY("permits of one limit", "permits", "e " OURS "1-lease-0000000000 " WRITTEN(1, LIMIT(3)),
                "e " OURS "2-lease-0000000001 " WRITTEN(2, LIMIT(3))),
        HEALTHY("members of a double barrier", "double_barrier", "e " OURS "1-member", "e " OURS "2-member"),
        HEALTHY("members that are inside", "double_barrier", "e " OURS "1-member", "e " OURS "2-member", "s ready"),
        HEALTHY("the paths of other locks", "directory", "s orders", "s invoices"),
        HEALTHY("the same, which nobody may delete", "directory", "s orders", "s invoices", "a rc"),
        HEALTHY("a number that others have left behind", "mutex", "e " OURS "1-lock-0000012345"),
        HEALTHY("an ACL that lets all contend, and nobody change it", "mutex", "e " OURS "1-lock-0000000000", "a rcd"),
        HEALTHY("a path below which nobody creates", "none", "a r"),
        /* Curator */
        HEALTHY("Curator's mutex", "mutex", "e " CURATOR "1-lock-0000000000 10.0.0.7",
                "e " CURATOR "2-lock-0000000001 10.0.0.8"),
        HEALTHY("Curator's mutex without protection", "mutex", "e lock-0000000000 10.0.0.7",
                "e lock-0000000001 10.0.0.8"),
        HEALTHY("Curator's selector", "mutex", "e " CURATOR "1-lock-0000000000 node-a",
                "e " CURATOR "2-lock-0000000001 node-b"),
        HEALTHY("Curator's latch", "leader", "e " CURATOR "1-latch-0000000000 node-a",
                "e " CURATOR "2-latch-0000000001 node-b"),
        HEALTHY("Curator's readers", "rwlock", "e " CURATOR "1-__READ__0000000000",
                "e " CURATOR "2-__READ__0000000001"),
        HEALTHY("Curator's writer, which reads", "rwlock", "e " CURATOR "1-__WRIT__0000000000",
                "e " CURATOR "2-__READ__0000000000"),
        HEALTHY("Curator's permits", "permits", "e " CURATOR "1-lease-0000000000 10.0.0.7",
                "e " CURATOR "2-lease-0000000001 10.0.0.8"),
        HEALTHY("Curator's double barrier", "double_barrier", "e 8612d63e-bf96-4b12-a950-74da4d73b8e1",
                "e 8612d63e-bf96-4b12-a950-74da4d73b8e2", "s ready"),
        HEALTHY("Curator's multi-lock of mutexes", "mutex", "e " CURATOR "1-lock-0000000004"),
        HEALTHY("Curator's mutex beside ours", "mutex", "e " CURATOR "1-lock-0000000000 10.0.0.7",
                "e " OURS "1-lock-0000000001 " WRITTEN(1, "")),
        HEALTHY("Curator's latch beside ours", "leader", "e " OURS "1-latch-0000000000 db7:1",
                "e " CURATOR "1-latch-0000000001 b"),
        HEALTHY("Curator's readers beside ours", "rwlock", "e " OURS "1-__READ__0000000000",
                "e " CURATOR "1-__READ__0000000001", "e " OURS "2-__WRIT__0000000002"),
        HEALTHY("Curator's permits beside ours", "permits", "e " OURS "1-lease-0000000000 " WRITTEN(1, LIMIT(3)),
                "e " CURATOR "1-lease-0000000001 10.0.0.7"),
        /* kazoo */
        HEALTHY("kazoo's Lock", "foreign", "e " KAZOO "1__lock__0000000000", "e " KAZOO "2__lock__0000000001"),
        HEALTHY("kazoo's Election", "foreign", "e " KAZOO "1__lock__0000000000 node-a",
                "e " KAZOO "2__lock__0000000001 node-b"),
        HEALTHY("kazoo's readers and writer", "foreign", "e " KAZOO "1__rlock__0000000000",
                "e " KAZOO "2__lock__0000000001", "e " KAZOO "3__rlock__0000000002"),
        HEALTHY("kazoo's Semaphore", "double_barrier", "e " KAZOO "1", "e " KAZOO "2"),
        HEALTHY("kazoo's DoubleBarrier", "double_barrier", "e 0123456789abcdef0123450123456789", "e " KAZOO "2",
                "s ready"),
        HEALTHY("the subclass of kazoo's Lock beside ours", "mutex", "e " KAZOO "1-lock-0000000000",
                "e " OURS "1-lock-0000000001 " WRITTEN(1, "")),
        /* others */
        HEALTHY("go-zookeeper's lock", "mutex", "e " GO "1-lock-0000000000", "e " GO "2-lock-0000000001"),
        HEALTHY("ZooKeeper's own recipe", "foreign", "e " RECIPE "1-0000000000", "e " RECIPE "2-0000000001"),
        HEALTHY("an election of another make", "foreign", "e n_0000000000", "e n_0000000001"),
    };
    CHECK(sizeof sites / sizeof *sites >= 40);
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        examine(&sites[i]);
}

static void each_fault_is_named(void)
{
    static const struct site sites[] = {
        FAULT("kazoo behind ours", "mixed", "foreign", "kazoo", "e " OURS "1-lock-0000000000",
              "e " KAZOO "1__lock__0000000001"),
        FAULT("kazoo before Curator", "mixed", "foreign", "kazoo", "e " KAZOO "1__lock__0000000000",
              "e " CURATOR "1-lock-0000000001"),
        FAULT("a reader of kazoo's among ours", "mixed", "foreign", "kazoo", "e " OURS "1-__READ__0000000000",
              "e " KAZOO "1__rlock__0000000001"),
        FAULT("go-zookeeper beside ours", "mutex", "foreign", "go-zookeeper", "e " OURS "1-lock-0000000000",
              "e " GO "1-lock-0000000001"),
        FAULT("an unknown recipe beside ours", "mixed", "foreign", "unknown", "e " OURS "1-lock-0000000000",
              "e n_0000000001"),
        FAULT("ZooKeeper's own recipe beside Curator", "mixed", "foreign", "unknown", "e " CURATOR "1-lock-0000000000",
              "e " RECIPE "1-0000000001"),
        FAULT("a node without a number", "mutex", "junk", "no lock library", "e " OURS "1-lock-0000000000", "e config"),
        FAULT("one that stays", "mutex", "junk", "no lock library", "e " CURATOR "1-lock-0000000000", "s config"),
        FAULT("a permit that nobody holds", "permits", "junk", "takes a permit",
              "e " OURS "1-lease-0000000000 " WRITTEN(1, LIMIT(3)), "s config"),
        FAULT("a mutex's junk is no permit", "mutex", "junk", "other libraries fail", "e " OURS "1-lock-0000000000",
              "s config"),
        FAULT("two of one number", "mutex", "tie", "number, 7", "e " OURS "1-lock-0000000007",
              "e " OURS "2-lock-0000000007"),
        FAULT("two permits of one number", "permits", "tie", "the same number", "e " OURS "1-lease-0000000007",
              "e " CURATOR "1-lease-0000000007"),
        FAULT("a holder that no session ends", "mutex", "persistent", "not ephemeral", "s " OURS "1-lock-0000000000",
              "e " OURS "2-lock-0000000001"),
        FAULT("a permit that no session ends", "permits", "persistent", "not ephemeral",
              "s " CURATOR "1-lease-0000000000"),
        FAULT("a node that others may not read", "mutex", "unreadable", "READ", "u " OURS "1-lock-0000000000 secret",
              "e " OURS "2-lock-0000000001"),
        FAULT("a reader and a latch", "mixed", "mixed", "different recipes", "e " OURS "1-__READ__0000000000",
              "e " OURS "2-latch-0000000001"),
        FAULT("a mutex and a latch", "mixed", "mixed", "different recipes", "e " OURS "1-lock-0000000000",
              "e " CURATOR "1-latch-0000000001"),
        FAULT("a mutex above a semaphore", "mutex", "mixed", "different recipes", "e " OURS "1-lock-0000000000",
              "s locks", "s leases"),
        FAULT("grants that some confirm", "mutex", "mixed", "confirm",
              "e " OURS "1-lock-0000000000 " WRITTEN(1, CONFIRMED), "e " CURATOR "1-lock-0000000001"),
        FAULT("a lock delay that some have", "mutex", "mixed", "lock delay",
              "e " OURS "1-lock-0000000000 " WRITTEN(1, DELAY), "e " OURS "2-lock-0000000001 " WRITTEN(2, "")),
        FAULT("limits that differ", "permits", "mixed", "limits", "e " OURS "1-lease-0000000000 " WRITTEN(1, LIMIT(3)),
              "e " OURS "2-lease-0000000001 " WRITTEN(2, LIMIT(4))),
        FAULT("Curator's members that wait", "double_barrier", "early", "GH-1290",
              "e 8612d63e-bf96-4b12-a950-74da4d73b8e1", "e " OURS "1-member"),
        FAULT("an ACL without DELETE", "mutex", "acl", "world:anyone queue", "e " OURS "1-lock-0000000000", "a rc"),
        FAULT("an ACL without CREATE", "mutex", "acl", "CREATE to nobody", "e " OURS "1-lock-0000000000", "a rd"),
        FAULT("an ACL without DELETE, before anybody contends", "none", "acl", "DELETE", "a rca"),
    };
    CHECK(sizeof sites / sizeof *sites >= 20);
    for (size_t i = 0; i < sizeof sites / sizeof *sites; i++)
        examine(&sites[i]);
}

int main(int argc, char **argv)
{
    static const struct pdk__test tests[] = {
        {"on forty paths of the field nothing is wrong", nothing_is_wrong},
        {"each of twenty faults is found, alone, and named", each_fault_is_named},
        {0},
    };
    return pdk__test_main(argc, argv,
                          &(struct pdk__test_suite){
                              .name = "cli/diagnosis", .tests = tests, .setup = cli_setup, .teardown = cli_teardown});
}
