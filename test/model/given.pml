/* What a run is asked to be comes from the environment, so that one verifier serves many. */
c_decl {
\#include <stdlib.h>
};
c_code {
    static int given(const char *name, int otherwise)
    {
        const char *value = getenv(name);
        return value != NULL ? atoi(value) : otherwise;
    }
}
