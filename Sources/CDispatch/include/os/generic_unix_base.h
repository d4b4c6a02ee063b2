// SPDX-License-Identifier: Apache-2.0
// Macros for declarations. They have the names of other implementations, because programs use them
// in declarations of their own.
//
// The OS_HAS_… macros wrap clang's feature tests, which this header never defines for compilers
// that lack them: a header that defines __has_feature makes every later header assume clang.
#ifndef __OS_GENERIC_UNIX_BASE__
#define __OS_GENERIC_UNIX_BASE__

#include <sys/cdefs.h>
#include <sys/param.h>

#include "generic_base.h"

#ifdef __has_attribute
#define OS_HAS_ATTRIBUTE(name) __has_attribute(name)
#else
#define OS_HAS_ATTRIBUTE(name) 0
#endif
#ifdef __has_feature
#define OS_HAS_FEATURE(name) __has_feature(name)
#else
#define OS_HAS_FEATURE(name) 0
#endif
#ifdef __has_extension
#define OS_HAS_EXTENSION(name) __has_extension(name)
#else
#define OS_HAS_EXTENSION(name) 0
#endif

// The release of Apple's systems that introduced a declaration: empty on Linux.
#ifndef API_AVAILABLE
#define API_AVAILABLE(...)
#endif
#ifndef API_DEPRECATED
#define API_DEPRECATED(...)
#endif
#ifndef API_UNAVAILABLE
#define API_UNAVAILABLE(...)
#endif
#ifndef API_DEPRECATED_WITH_REPLACEMENT
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#endif

#define OS_EXPECT(value, expected) __builtin_expect((value), (expected))
#ifndef os_likely
#define os_likely(condition) OS_EXPECT(!!(condition), 1)
#endif
#ifndef os_unlikely
#define os_unlikely(condition) OS_EXPECT(!!(condition), 0)
#endif
#define OS_UNUSED __attribute__((__unused__))
#define OS_EXPORT
#define OS_WARN_RESULT
#define OS_WARN_RESULT_NEEDS_RELEASE
#define OS_NOTHROW

#ifdef __clang__
#define OS_COMPILER_CAN_ASSUME(condition) __builtin_assume(condition)
#else
#define OS_COMPILER_CAN_ASSUME(condition) ((void)(condition))
#endif

// Nullability, with the pedantic warning about its specifiers disabled.
#if OS_HAS_FEATURE(assume_nonnull)
#define OS_ASSUME_NONNULL_BEGIN \
  _Pragma("clang diagnostic push") \
  _Pragma("clang diagnostic ignored \"-Wnullability-extension\"") \
  _Pragma("clang assume_nonnull begin")
#define OS_ASSUME_NONNULL_END \
  _Pragma("clang assume_nonnull end") \
  _Pragma("clang diagnostic pop")
#else
#define OS_ASSUME_NONNULL_BEGIN
#define OS_ASSUME_NONNULL_END
#endif
#if !OS_HAS_FEATURE(nullability)
#ifndef _Nullable
#define _Nullable
#endif
#ifndef _Nonnull
#define _Nonnull
#endif
#ifndef _Null_unspecified
#define _Null_unspecified
#endif
#endif

#if OS_HAS_FEATURE(attribute_availability_swift)
#define OS_SWIFT_UNAVAILABLE(text) \
  __attribute__((__availability__(swift, unavailable, message = text)))
#else
#define OS_SWIFT_UNAVAILABLE(text)
#endif
#if OS_HAS_ATTRIBUTE(swift_private)
#define OS_REFINED_FOR_SWIFT __attribute__((__swift_private__))
#else
#define OS_REFINED_FOR_SWIFT
#endif
#if OS_HAS_ATTRIBUTE(swift_name)
#define OS_SWIFT_NAME(name) __attribute__((__swift_name__(#name)))
#else
#define OS_SWIFT_NAME(name)
#endif

#define __OS_STRINGIFY(text) #text
#define OS_STRINGIFY(text) __OS_STRINGIFY(text)
#define __OS_CONCAT(left, right) left##right
#define OS_CONCAT(left, right) __OS_CONCAT(left, right)

#if OS_HAS_FEATURE(objc_fixed_enum) || OS_HAS_EXTENSION(cxx_strong_enums)
#define OS_ENUM(name, type, ...) __extension__ typedef enum : type { __VA_ARGS__ } name##_t
#else
#define OS_ENUM(name, type, ...) \
  enum { __VA_ARGS__ }; \
  typedef type name##_t
#endif

#endif
