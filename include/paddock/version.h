/* SPDX-License-Identifier: Apache-2.0 */
/* Version of the library, at compile time and at run time. */
#ifndef PADDOCK_VERSION_H
#define PADDOCK_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define PDK_VERSION_MAJOR 0
#define PDK_VERSION_MINOR 1
#define PDK_VERSION_PATCH 0

/* The version of the library that was linked, as "MAJOR.MINOR.PATCH". Static text; any thread, also after fork. */
const char *pdk_version(void);

#ifdef __cplusplus
}
#endif

#endif
