// SPDX-License-Identifier: Apache-2.0
// The difference between a C and a C++ declaration: extern "C".
#ifndef __OS_GENERIC_BASE__
#define __OS_GENERIC_BASE__

#if !defined(__BEGIN_DECLS) && !defined(__END_DECLS)
#ifdef __cplusplus
#define __BEGIN_DECLS extern "C" {
#define __END_DECLS }
#else
#define __BEGIN_DECLS
#define __END_DECLS
#endif
#endif

#endif
