#include "lib/zk/registry.h"
#include "lib/assert.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uintptr_t last_id;

/* A program may have thousands of clients, and each event and each close looks one up. A table of this size does
 * without growing, and without memory that can be refused. */
enum { CHAINS = 4096 };
static struct pdk__list by_id[CHAINS], by_handle[CHAINS]; /* zero: an empty list; the second of adopted handles alone */

static struct pdk__list *chain_of(struct pdk__list *table, uintptr_t key)
{
    struct pdk__list *chain = &table[key % CHAINS];
    if (chain->next == NULL)
        pdk__list_init(chain);
    return chain;
}

static struct pdk__list *chain_of_id(uintptr_t id) { return chain_of(by_id, id); }

/* Handles are large, so their addresses are far apart. */
static struct pdk__list *chain_of_handle(const zhandle_t *zh) { return chain_of(by_handle, (uintptr_t)zh / 64); }

/* The child of a fork() may create clients of its own: it must not find this lock taken by a thread that it does not
 * have. */
static void before_fork(void) { pthread_mutex_lock(&lock); }

static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

static struct pdk_client *find(uintptr_t id)
{
    PDK__LIST_EACH (link, chain_of_id(id)) {
        struct pdk_client *c = PDK__MEMBER(link, struct pdk_client, registered.by_id);
        if (c->id == id)
            return c;
    }
    return NULL;
}

static struct pdk_client *find_adopted(const zhandle_t *zh)
{
    PDK__LIST_EACH (link, chain_of_handle(zh)) {
        struct pdk_client *c = PDK__MEMBER(link, struct pdk_client, registered.by_handle);
        if (c->zh == zh)
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
    if (c->adopted && find_adopted(c->zh) != NULL) {
        rc = PDK_EBUSY;
    } else {
        assert(c->id == 0 && pdk__list_empty(&c->registered.by_id));
        c->id = ++last_id;
        pdk__list_append(chain_of_id(c->id), &c->registered.by_id);
        if (c->adopted)
            pdk__list_append(chain_of_handle(c->zh), &c->registered.by_handle);
    }
    pthread_mutex_unlock(&lock);
    return rc;
}

void pdk__registry_remove(struct pdk_client *c)
{
    pthread_mutex_lock(&lock);
    assert(c->id != 0 && !pdk__list_empty(&c->registered.by_id));
    pdk__list_remove(&c->registered.by_id);
    pdk__list_remove(&c->registered.by_handle);
    pthread_mutex_unlock(&lock);
}

/* With the lock, which it gives back. C may be NULL. */
static struct pdk_client *counted(struct pdk_client *c)
{
    if (c != NULL)
        pdk__client_ref(c);
    pthread_mutex_unlock(&lock);
    return c;
}

struct pdk_client *pdk__registry_find(uintptr_t id)
{
    pthread_mutex_lock(&lock);
    return counted(find(id));
}

struct pdk_client *pdk__registry_find_handle(const zhandle_t *zh)
{
    pthread_mutex_lock(&lock);
    return counted(find_adopted(zh));
}
