#include "lib/zk/registry.h"
#include "lib/assert.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pdk__list clients = {&clients, &clients};
static uintptr_t last_id;

/* The child of a fork() may create clients of its own: it must not find this lock taken by a thread that it does not
 * have. */
static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

static struct pdk_client *find(uintptr_t id, const zhandle_t *adopted)
{
    PDK__LIST_EACH (link, &clients) {
        struct pdk_client *c = PDK__MEMBER(link, struct pdk_client, link);
        if (adopted != NULL ? c->adopted && c->zh == adopted : c->id == id)
            return c;
    }
    return NULL;
}

int pdk__registry_add(struct pdk_client *c)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int rc = 0;
    pthread_once(&once, watch_forks);
    pthread_mutex_lock(&lock);
    if (c->adopted && find(0, c->zh) != NULL) {
        rc = PDK_EBUSY;
    } else {
        assert(c->id == 0 && pdk__list_empty(&c->link));
        c->id = ++last_id;
        pdk__list_append(&clients, &c->link);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void pdk__registry_remove(struct pdk_client *c)
{
    pthread_mutex_lock(&lock);
    assert(c->id != 0 && !pdk__list_empty(&c->link));
    pdk__list_remove(&c->link);
    pthread_mutex_unlock(&lock);
}

static struct pdk_client *find_counted(uintptr_t id, const zhandle_t *adopted)
{
    pthread_mutex_lock(&lock);
    struct pdk_client *c = find(id, adopted);
    if (c != NULL)
        pdk__client_ref(c);
    pthread_mutex_unlock(&lock);
    return c;
}

struct pdk_client *pdk__registry_find(uintptr_t id) { return find_counted(id, NULL); }

struct pdk_client *pdk__registry_find_handle(const zhandle_t *zh) { return find_counted(0, zh); }
