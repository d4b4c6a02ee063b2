// SPDX-License-Identifier: Apache-2.0
// Macros that every other header uses: attributes, enumerations, nullability. Programs use some of
// these names in declarations of their own, so all the names that other implementations define are
// here.
#ifndef __DISPATCH_BASE__
#define __DISPATCH_BASE__

#include "../os/generic_unix_base.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// MARK: Attributes

#define DISPATCH_NORETURN __attribute__((__noreturn__))
#define DISPATCH_NOTHROW __attribute__((__nothrow__))
#define DISPATCH_NONNULL1 __attribute__((__nonnull__(1)))
#define DISPATCH_NONNULL2 __attribute__((__nonnull__(2)))
#define DISPATCH_NONNULL3 __attribute__((__nonnull__(3)))
#define DISPATCH_NONNULL4 __attribute__((__nonnull__(4)))
#define DISPATCH_NONNULL5 __attribute__((__nonnull__(5)))
#define DISPATCH_NONNULL6 __attribute__((__nonnull__(6)))
#define DISPATCH_NONNULL7 __attribute__((__nonnull__(7)))
#define DISPATCH_NONNULL_ALL __attribute__((__nonnull__))
#define DISPATCH_SENTINEL __attribute__((__sentinel__))
#define DISPATCH_PURE __attribute__((__pure__))
#define DISPATCH_CONST __attribute__((__const__))
#define DISPATCH_MALLOC __attribute__((__malloc__))
#define DISPATCH_WARN_RESULT __attribute__((__warn_unused_result__))
#define DISPATCH_ALWAYS_INLINE __attribute__((__always_inline__))
#define DISPATCH_UNAVAILABLE DISPATCH_UNAVAILABLE_MSG("there is no such thing on this system")
#define DISPATCH_COLD __attribute__((__cold__))
#define DISPATCH_UNUSED __attribute__((__unused__))

// gcc supports this attribute from version 12.
#if OS_HAS_ATTRIBUTE(unavailable)
#define DISPATCH_UNAVAILABLE_MSG(message) __attribute__((__unavailable__(message)))
#else
#define DISPATCH_UNAVAILABLE_MSG(message)
#endif
#define DISPATCH_LINUX_UNAVAILABLE() DISPATCH_UNAVAILABLE_MSG("Linux has no such thing")
#define DISPATCH_FREEBSD_UNAVAILABLE()

#if OS_HAS_ATTRIBUTE(noescape)
#define DISPATCH_NOESCAPE __attribute__((__noescape__))
#else
#define DISPATCH_NOESCAPE
#endif

#if OS_HAS_ATTRIBUTE(not_tail_called)
#define DISPATCH_NOT_TAIL_CALLED __attribute__((__not_tail_called__))
#else
#define DISPATCH_NOT_TAIL_CALLED
#endif

#if defined(__cplusplus) && __cplusplus >= 201703L
#define DISPATCH_FALLTHROUGH [[fallthrough]]
#elif OS_HAS_ATTRIBUTE(fallthrough)
#define DISPATCH_FALLTHROUGH __attribute__((__fallthrough__))
#else
#define DISPATCH_FALLTHROUGH
#endif

/// Declares a function or variable that the library defines. A program that links the library
/// statically defines dispatch_STATIC, which hides these symbols from other images.
#ifdef __cplusplus
#define DISPATCH_EXTERN extern "C"
#else
#define DISPATCH_EXTERN extern
#endif
#ifdef dispatch_STATIC
#define DISPATCH_EXPORT DISPATCH_EXTERN __attribute__((__visibility__("hidden")))
#else
#define DISPATCH_EXPORT DISPATCH_EXTERN __attribute__((__visibility__("default")))
#endif
#define DISPATCH_INLINE static __inline__
#define DISPATCH_ALIAS_V2(symbol)

#define DISPATCH_EXPECT(value, expected) OS_EXPECT(value, expected)
#define DISPATCH_COMPILER_CAN_ASSUME(condition) OS_COMPILER_CAN_ASSUME(condition)
#define dispatch_compiler_barrier() __asm__ __volatile__("" ::: "memory")

#ifdef __cplusplus
#define DISPATCH_TRANSPARENT_UNION
#else
#define DISPATCH_TRANSPARENT_UNION __attribute__((__transparent_union__))
#endif

// MARK: Nullability

/// Between these two macros a pointer is nonnull unless its declaration says otherwise. Nullability
/// specifiers are a compiler extension, so the macros disable the pedantic warning about them,
/// between the two only.
#define DISPATCH_ASSUME_NONNULL_BEGIN OS_ASSUME_NONNULL_BEGIN
#define DISPATCH_ASSUME_NONNULL_END OS_ASSUME_NONNULL_END

// MARK: Enumerations

/// Declares an enumeration of the given size where clang supports it: in C++ and Objective-C. In C
/// the constants are plain and the type is an integer, so no casts between them are needed.
#define DISPATCH_ENUM(name, type, ...) OS_ENUM(name, type, __VA_ARGS__)
#define DISPATCH_ENUM_API_AVAILABLE(...)
#define DISPATCH_ENUM_API_DEPRECATED(...)
#define DISPATCH_ENUM_API_DEPRECATED_WITH_REPLACEMENT(...)

// MARK: Objects

#define DISPATCH_RETURNS_RETAINED OS_OBJECT_RETURNS_RETAINED
#if OS_HAS_ATTRIBUTE(ns_returns_retained) && defined(__OBJC__)
#define DISPATCH_RETURNS_RETAINED_BLOCK __attribute__((__ns_returns_retained__))
#else
#define DISPATCH_RETURNS_RETAINED_BLOCK
#endif

// MARK: Swift

#define DISPATCH_SWIFT3_OVERLAY 0
#define DISPATCH_SWIFT_UNAVAILABLE(message) OS_SWIFT_UNAVAILABLE(message)
#define DISPATCH_SWIFT3_UNAVAILABLE(message)
#define DISPATCH_REFINED_FOR_SWIFT OS_REFINED_FOR_SWIFT
#define DISPATCH_SWIFT_NAME(name) OS_SWIFT_NAME(name)

/// Marks a parameter that is called on other threads. Without it, Swift would assume that a closure
/// written on the main actor runs there.
#if OS_HAS_ATTRIBUTE(swift_attr)
#define DISPATCH_SENDABLE __attribute__((__swift_attr__("@Sendable")))
#else
#define DISPATCH_SENDABLE
#endif

// MARK: Functions

DISPATCH_ASSUME_NONNULL_BEGIN

/// A work item, handler, finalizer or destructor. Its argument is the context that was passed with
/// it, or the context of its object where the documentation says so.
typedef void (*dispatch_function_t)(void *_Nullable context);

DISPATCH_ASSUME_NONNULL_END

#endif
