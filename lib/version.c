#include <paddock/version.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

const char *pdk_version(void)
{
    return TEXT(PDK_VERSION_MAJOR) "." TEXT(PDK_VERSION_MINOR) "." TEXT(PDK_VERSION_PATCH);
}
