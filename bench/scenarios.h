/* The scenarios of bench/crowd. Each prints its phases, and leaves no client. */
#ifndef BENCH_SCENARIOS_H
#define BENCH_SCENARIOS_H

void scenario_join(void);
void scenario_drain(void);
void scenario_storm_follower(void);
void scenario_storm_leader(void);
void scenario_storm_all(void);
void scenario_many_clients(void);
void scenario_many_locks(void);

#endif
