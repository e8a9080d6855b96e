/*
 * Included by the compiler before every file of the library, but not of the core. The library is compiled with
 * -fvisibility=hidden, and a function keeps the visibility of its first declaration. So the declarations of the public
 * headers are exported, and nothing else, and the headers need no mark on each function.
 */
#ifndef PADDOCK_LIB_EXPORT_H
#define PADDOCK_LIB_EXPORT_H

#pragma GCC visibility push(default)
#include <paddock.h>
#pragma GCC visibility pop

#endif
