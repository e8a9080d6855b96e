#include "test/sim/fiber.h"
#include "test/sim/world.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK = 128 * 1024, FIBERS_MAX = 1024 };

extern char __start_sim_tls[], __stop_sim_tls[];

struct fiber *fiber_now;
static struct world *world;
static struct fiber fibers[FIBERS_MAX];
static int n_fibers;       /* of this run */
static int n_made;         /* ever: these have a stack */
static struct fiber *last; /* whose thread-local variables are in place */
static char *pristine;
static void *world_sp;
static uint64_t numbers;

/* How many fibers wait, by a hash of what they wait on. Mostly none waits on what is let go. */
static unsigned waiting[256];

/* --- switching --------------------------------------------------------------------------------------------------- */

#if defined __x86_64__
/* Push what a call preserves, change stacks, pop it. */
void sim_switch(void **from, void *to);
__asm__(".text\n.globl sim_switch\n.type sim_switch,@function\nsim_switch:\n"
        "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
        "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
        "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
        ".size sim_switch,.-sim_switch\n");

static void prepare_stack(struct fiber *f, void (*run)(void))
{
    void **top = (void **)((char *)f->stack + STACK);
    *--top = NULL;                   /* the stack is as after a call */
    *--top = (void *)(uintptr_t)run; /* the first switch returns to it */
    f->sp = top - 6;
}
#else
/* Elsewhere by the system, which saves the signal mask, too: slower. */
static ucontext_t contexts[FIBERS_MAX], world_context;

static void sim_switch(void **from, void *to) { swapcontext(*from, to); }

static void prepare_stack(struct fiber *f, void (*run)(void))
{
    ucontext_t *context = &contexts[f - fibers];
    world_sp = &world_context;
    getcontext(context);
    context->uc_stack.ss_sp = f->stack;
    context->uc_stack.ss_size = STACK;
    context->uc_link = NULL;
    makecontext(context, run, 0);
    f->sp = context;
}
#endif

/* AddressSanitizer has to know which stack it looks at. */
#if defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
static const void *world_stack;
static size_t world_stack_size;

static void before_switch(void **fake, const void *stack, size_t size)
{
    __sanitizer_start_switch_fiber(fake, stack, size);
}

static void after_switch(void *fake, const void **stack, size_t *size)
{
    __sanitizer_finish_switch_fiber(fake, stack, size);
}

/* A fiber that never ended leaves its frames on the stack. */
static void clean_stack(void *stack) { __asan_unpoison_memory_region(stack, STACK); }
#else
static const void *world_stack;
static size_t world_stack_size;

static void before_switch(void **fake, const void *stack, size_t size) { (void)fake, (void)stack, (void)size; }

static void after_switch(void *fake, const void **stack, size_t *size) { (void)fake, (void)stack, (void)size; }

static void clean_stack(void *stack) { (void)stack; }
#endif

static size_t tls_size(void) { return (size_t)(__stop_sim_tls - __start_sim_tls); }

static void put_tls_in_place(struct fiber *f)
{
    if (last == f)
        return;
    if (last != NULL)
        memcpy(last->tls, __start_sim_tls, tls_size());
    memcpy(__start_sim_tls, f->tls, tls_size());
    last = f;
}

static void leave(void)
{
    struct fiber *f = fiber_now;
    void *fake = NULL;
    before_switch(f->done ? NULL : &fake, world_stack, world_stack_size);
    sim_switch(&f->sp, world_sp);
    after_switch(fake, NULL, NULL);
}

static void trampoline(void)
{
    struct fiber *f = fiber_now;
    after_switch(NULL, &world_stack, &world_stack_size);
    f->run(f->arg);
    f->done = true;
    fiber_wake_all(f);
    leave();
    abort();
}

static void enter(struct fiber *f)
{
    put_tls_in_place(f);
    f->woken = false;
    fiber_now = f;
    void *fake = NULL;
    before_switch(&fake, f->stack, STACK);
    sim_switch(&world_sp, f->sp);
    after_switch(fake, NULL, NULL);
    fiber_now = NULL;
}

/* --- waking ------------------------------------------------------------------------------------------------------ */

static void go_on(void *subject, uint64_t number)
{
    struct fiber *f = subject;
    if (f->number != number || !f->woken || f->done || client_is_dead(f->owner))
        return;
    if (client_is_paused(f->owner)) {
        f->postponed = true;
        return;
    }
    enter(f);
}

/* A thread that is woken runs after some microseconds; rarely, after milliseconds. */
static instant latency(void)
{
    struct random *r = &world->random;
    return 1 + (chance(r, world->late_permille) ? below(r, world->late_delay) : below(r, 30));
}

static unsigned *waiting_on(const void *what) { return &waiting[(uintptr_t)what >> 3 & 255]; }

static void wait_on(struct fiber *f, const void *what)
{
    if (f->waits_on != NULL)
        --*waiting_on(f->waits_on);
    if (what != NULL)
        ++*waiting_on(what);
    f->waits_on = what;
}

void fiber_wake(struct fiber *f)
{
    if (f->woken || f->done)
        return;
    f->woken = true;
    wait_on(f, NULL);
    f->sleep++;
    agenda_add(&world->agenda, latency(), go_on, f, f->number);
}

static void ring(void *subject, uint64_t detail)
{
    struct fiber *f = subject;
    if (f->done || f->woken || (uint32_t)(detail >> 32) != (uint32_t)f->number || (uint32_t)detail != f->sleep)
        return;
    f->timed_out = true;
    fiber_wake(f);
}

bool fiber_block(const void *what, instant at_most)
{
    struct fiber *f = fiber_now;
    wait_on(f, what);
    f->timed_out = false;
    if (at_most >= 0)
        agenda_add(&world->agenda, at_most, ring, f, f->number << 32 | f->sleep);
    leave();
    return !f->timed_out;
}

static bool waits(const struct fiber *f, const void *what) { return f->waits_on == what && !f->woken && !f->done; }

/* Whichever came first is not always woken first. */
void fiber_wake_one(const void *what)
{
    int from = n_fibers > 0 ? below(&world->random, n_fibers) : 0;
    for (int i = 0; i<n_fibers && * waiting_on(what)> 0; i++) {
        struct fiber *f = &fibers[(from + i) % n_fibers];
        if (waits(f, what)) {
            fiber_wake(f);
            return;
        }
    }
}

void fiber_wake_all(const void *what)
{
    for (int i = 0; i<n_fibers && * waiting_on(what)> 0; i++)
        if (waits(&fibers[i], what))
            fiber_wake(&fibers[i]);
}

void fibers_resume(struct client *c)
{
    for (int i = 0; i < n_fibers; i++) {
        struct fiber *f = &fibers[i];
        if (f->owner != c || !f->postponed)
            continue;
        f->postponed = false;
        agenda_add(&world->agenda, latency(), go_on, f, f->number);
    }
}

/* --- birth ------------------------------------------------------------------------------------------------------- */

static struct fiber *find_free(void)
{
    for (int i = 0; i < n_fibers; i++)
        if (fibers[i].done && fibers[i].detached)
            return &fibers[i];
    if (n_fibers == FIBERS_MAX) {
        fputs("sim: too many fibers\n", stderr);
        abort();
    }
    return &fibers[n_fibers++];
}

static void equip(struct fiber *f)
{
    if (f->stack != NULL)
        return;
    f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    f->tls = malloc(tls_size());
    if (f->stack == MAP_FAILED || f->tls == NULL)
        abort();
    n_made++;
}

struct fiber *fiber_start(struct client *owner, void *(*run)(void *), void *arg)
{
    struct fiber *f = find_free();
    equip(f);
    if (last == f)
        last = NULL;
    memcpy(f->tls, pristine, tls_size());
    clean_stack(f->stack);
    prepare_stack(f, trampoline);
    f->owner = owner;
    f->run = run;
    f->arg = arg;
    f->number = ++numbers;
    f->done = f->detached = f->woken = f->postponed = f->timed_out = false;
    f->waits_on = NULL;
    f->n_locks = 0;
    fiber_wake(f);
    return f;
}

void fibers_begin(struct world *w)
{
    world = w;
    if (pristine == NULL) {
        pristine = malloc(tls_size());
        memcpy(pristine, __start_sim_tls, tls_size());
    }
    n_fibers = 0;
    last = NULL;
    numbers = 0;
    memset(waiting, 0, sizeof waiting);
}
