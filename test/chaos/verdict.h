/* The judge: reads the evidence of a run and says which laws were broken. */
#ifndef CHAOS_VERDICT_H
#define CHAOS_VERDICT_H

/* Judge the evidence in DIR, print a summary, write DIR/report.html. 0: all laws were kept; 1: not so; 99: the evidence
 * cannot be read. */
int judge(const char *dir);

/* The same of each of N, and at the end of all together. The worst of their results. */
int judge_all(char **dirs, int n);

#endif
