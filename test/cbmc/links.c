/*
 * Belief rests on three links: after each of all short histories of answers and connections, no later moment is proven
 * than the definition in chain.h gives, and no answer takes a proven moment away.
 *
 * The definition is said here once more, over the whole history and without lists of links.
 */
#include "lib/core/chain.h"
#include "test/cbmc/search.h"

/* Moments from 0 to LAST_MS, the gap and the allowance for late pings within them, and so many steps. */
enum { LAST_MS = 5, GAP_MS = 2, LATE_MS = 1, STEPS = 5 };

enum kind { SERVER = PDK__REACHED_SERVER, LEADER = PDK__REACHED_LEADER, QUORUM = PDK__REACHED_QUORUM, CONNECTION };

/* An answer to a request, or a new connection. */
struct step {
    enum kind kind;
    int64_t sent_ms, now_ms;
};

static struct step history[STEPS];
static int64_t since_ms;

/* --- the definition ----------------------------------------------------------------------------------------------- */

static bool is_answer(int i) { return history[i].kind != CONNECTION; }

/* Are both answers of one connection? */
static bool together(int i, int j)
{
    for (int k = i; k <= j; k++)
        if (!is_answer(k))
            return false;
    return true;
}

/* Does a write, answered in step WRITE, prove what is carried at KNOWN_MS on the connection of step FROM? */
static bool proves(int write, int from, int64_t known_ms)
{
    return history[write].kind == QUORUM && together(from, write) && history[write].sent_ms > known_ms;
}

/* By a request that is answered in step I, a write or a sync in step J, and a write before step N. */
static bool by_three(int i, int j, int n)
{
    const struct step *link = &history[j];
    bool carried = is_answer(i) && together(i, j) && link->kind >= LEADER &&
                   link->sent_ms >= history[i].now_ms + GAP_MS;
    for (int k = j + 1; carried && k < n; k++)
        if (proves(k, j, link->now_ms + (link->kind == LEADER ? LATE_MS : 0)))
            return true;
    return false;
}

/* When the newest request that was answered before step N had been sent. */
static int64_t latest_ms(int n)
{
    int64_t latest = since_ms;
    for (int i = 0; i < n; i++)
        if (is_answer(i))
            latest = pdk__later_ms(latest, history[i].sent_ms);
    return latest;
}

/* By the connection in step R, and a write before step N. */
static bool by_connection(int r, int n)
{
    for (int k = r + 1; k < n; k++)
        if (proves(k, r + 1, history[r].now_ms))
            return true;
    return false;
}

/* The latest moment that N steps prove. */
static int64_t provable_ms(int n)
{
    int64_t provable = since_ms;
    for (int i = 0; i < n; i++) {
        if (!is_answer(i) && by_connection(i, n))
            provable = pdk__later_ms(provable, latest_ms(i));
        for (int j = i + 1; j < n; j++)
            if (by_three(i, j, n))
                provable = pdk__later_ms(provable, history[i].sent_ms);
    }
    return provable;
}

/* --- all histories ------------------------------------------------------------------------------------------------ */

static int n_steps;

static void show(void)
{
    static const char *const kinds[] = {"server", "leader", "quorum", "connection"};
    printf("since %lld\n", (long long)since_ms);
    for (int i = 0; i < n_steps; i++)
        printf("%s: sent %lld, answered %lld\n", kinds[history[i].kind], (long long)history[i].sent_ms,
               (long long)history[i].now_ms);
}

static void judge(const struct pdk__chain *before, const struct pdk__chain *chain, int n)
{
    int64_t provable = provable_ms(n);
    n_steps = n;
    search_cases++;
    PROVE(chain->proven_ms <= provable, "belief rests on three links");
    PROVE(chain->proven_ms >= before->proven_ms, "no answer takes belief away");
    PROVE(chain->latest_ms == latest_ms(n), "the newest request that was answered is known");
    REACH(chain->proven_ms > before->proven_ms && before->proven_ms > since_ms);
    REACH(chain->proven_ms == provable && provable > since_ms && history[n - 1].kind == QUORUM);
}

static void go_on(const struct pdk__chain *chain, int n);

static void answer(const struct pdk__chain *before, int n, int64_t now_ms)
{
    for (enum kind kind = SERVER; kind <= QUORUM; kind++)
        for (int64_t sent_ms = 0; sent_ms <= now_ms; sent_ms++) {
            struct pdk__chain chain = *before;
            history[n] = (struct step){kind, sent_ms, now_ms};
            bool more = pdk__chain_answered(&chain, sent_ms, now_ms, (enum pdk__reach)kind);
            PROVE(more == (chain.proven_ms > before->proven_ms), "it tells whether more is proven");
            judge(before, &chain, n + 1);
            go_on(&chain, n + 1);
        }
}

static void connect(const struct pdk__chain *before, int n, int64_t now_ms)
{
    struct pdk__chain chain = *before;
    history[n] = (struct step){.kind = CONNECTION, .now_ms = now_ms};
    pdk__chain_resume(&chain, GAP_MS, LATE_MS, now_ms);
    judge(before, &chain, n + 1);
    go_on(&chain, n + 1);
}

static void go_on(const struct pdk__chain *chain, int n)
{
    for (int64_t now_ms = n > 0 ? history[n - 1].now_ms : 0; n < STEPS && now_ms <= LAST_MS; now_ms++) {
        answer(chain, n, now_ms);
        connect(chain, n, now_ms);
    }
}

int main(void)
{
    search_show = show;
    for (int known = 0; known <= 1; known++) {
        struct pdk__chain chain;
        since_ms = known ? 0 : PDK__UNKNOWN_MS;
        pdk__chain_begin(&chain, GAP_MS, LATE_MS, since_ms);
        go_on(&chain, 0);
    }
    return search_end();
}
