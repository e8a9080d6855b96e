/* judge DIR...: the verdict on the evidence of earlier runs, once more; of several, each and all together. */
#include "test/chaos/verdict.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: judge DIR...\n");
        return 64;
    }
    return argc == 2 ? judge(argv[1]) : judge_all(argv + 1, argc - 1);
}
