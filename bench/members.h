/* The clients of a crowd. */
#ifndef BENCH_MEMBERS_H
#define BENCH_MEMBERS_H

#include <paddock.h>

/* Sums over all clients since they were created. */
struct members_sums {
    unsigned long long reconnects, expiries, losses;
};

void members_reserve(int n);  /* before the first is opened */
int members_open(void);       /* one more, connected; its number, from 0 */
void members_open_all(int n); /* so many more, at the same time */
int members_count(void);
pdk_client *member(int i);
int member_port(int i); /* of the server that it is connected to; 0: to none */

bool members_connected(void);
double members_connected_at(void); /* when the last connection of any client was made, as crowd_now() */
void members_sum(struct members_sums *sums);

void member_close(int i);
void members_free(void); /* closes what is open */

#endif
