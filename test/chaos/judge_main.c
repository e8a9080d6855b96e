/* judge DIR: the verdict on the evidence in DIR, once more. */
#include "test/chaos/verdict.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: judge DIR\n");
        return 64;
    }
    return judge(argv[1]);
}
