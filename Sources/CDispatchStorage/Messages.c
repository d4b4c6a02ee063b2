// The exported variadic functions, which Swift cannot define. Each formats its message and passes
// it to the engine. The engine's functions are weak, so the storage links without it.
#include <stdarg.h>
#include <stdio.h>

#define EXPORT __attribute__((__visibility__("default")))
#define FORMATS(text) __attribute__((__format__(__printf__, text, 0)))

extern void gc_report_object(void *object, const char *text) __attribute__((weak));
extern void gc_report_text(const char *text) __attribute__((weak));

EXPORT FORMATS(2) void dispatch_debugv(void *object, const char *format, va_list arguments) {
  char text[1024];
  vsnprintf(text, sizeof text, format, arguments);
  if (gc_report_object) gc_report_object(object, text);
}

EXPORT void dispatch_debug(void *object, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  dispatch_debugv(object, format, arguments);
  va_end(arguments);
}

EXPORT void _dispatch_log(const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (gc_report_text) gc_report_text(text);
}
