// Declares, for the cases, functions that the library exports without an installed header.
#ifndef CONFORMANCE_PRIVATE_H
#define CONFORMANCE_PRIVATE_H

#include <dispatch/dispatch.h>

struct dispatch_data_format_type_s;
typedef const struct dispatch_data_format_type_s *data_format;
extern const struct dispatch_data_format_type_s _dispatch_data_format_type_none,
  _dispatch_data_format_type_base32, _dispatch_data_format_type_base32hex,
  _dispatch_data_format_type_base64, _dispatch_data_format_type_utf8,
  _dispatch_data_format_type_utf16le, _dispatch_data_format_type_utf16be,
  _dispatch_data_format_type_utf_any;

// Data
typedef bool (*data_visitor)(
  void *context, dispatch_data_t region, size_t offset, const void *buffer, size_t size);
bool dispatch_data_apply_f(dispatch_data_t data, void *context, data_visitor visitor);
dispatch_data_t dispatch_data_create_alloc(size_t size, void **buffer);
dispatch_data_t dispatch_data_create_f(
  const void *buffer, size_t size, dispatch_queue_t queue, dispatch_function_t destructor);
dispatch_data_t dispatch_data_create_with_transform(
  dispatch_data_t data, data_format input, data_format output);

// Channels
typedef void (*io_function)(void *context, bool done, dispatch_data_t data, int error);
typedef void (*io_cleanup_function)(void *context, int error);
dispatch_io_t dispatch_io_create_f(
  unsigned long type, int file, dispatch_queue_t queue, void *context,
  io_cleanup_function cleanup);
dispatch_io_t dispatch_io_create_with_path_f(
  unsigned long type, const char *path, int flags, mode_t mode, dispatch_queue_t queue,
  void *context, io_cleanup_function cleanup);
dispatch_io_t dispatch_io_create_with_io_f(
  unsigned long type, dispatch_io_t io, dispatch_queue_t queue, void *context,
  io_cleanup_function cleanup);
void dispatch_io_read_f(
  dispatch_io_t channel, off_t offset, size_t length, dispatch_queue_t queue, void *context,
  io_function handler);
void dispatch_io_write_f(
  dispatch_io_t channel, off_t offset, dispatch_data_t data, dispatch_queue_t queue,
  void *context, io_function handler);
void dispatch_io_barrier_f(dispatch_io_t channel, void *context, dispatch_function_t barrier);
void dispatch_read_f(
  int file, size_t length, dispatch_queue_t queue, void *context,
  void (*handler)(void *context, dispatch_data_t data, int error));
void dispatch_write_f(
  int file, dispatch_data_t data, dispatch_queue_t queue, void *context,
  void (*handler)(void *context, dispatch_data_t data, int error));

// Queues
void dispatch_async_and_wait_f(dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_barrier_async_and_wait_f(
  dispatch_queue_t queue, void *context, dispatch_function_t work);
void dispatch_async_enforce_qos_class_f(
  dispatch_queue_t queue, void *context, dispatch_function_t work);
dispatch_queue_attr_t dispatch_queue_attr_make_with_overcommit(
  dispatch_queue_attr_t attribute, bool overcommit);
void dispatch_queue_set_label_nocopy(dispatch_queue_t queue, const char *label);
dispatch_queue_t _dispatch_runloop_root_queue_create_4CF(const char *label, unsigned long flags);
bool _dispatch_runloop_root_queue_perform_4CF(dispatch_queue_t queue);
void _dispatch_runloop_root_queue_wakeup_4CF(dispatch_queue_t queue);
void dispatch_queue_set_width(dispatch_queue_t queue, long width);
void dispatch_set_qos_class_floor(
  dispatch_object_t object, dispatch_qos_class_t qos_class, int relative_priority);
uint64_t dispatch_benchmark_f(size_t count, void *context, dispatch_function_t function);
void dispatch_atfork_prepare(void);
void dispatch_atfork_parent(void);
void dispatch_atfork_child(void);
bool _dispatch_is_multithreaded(void);
bool _dispatch_is_fork_of_multithreaded_parent(void);

// Run loops
int _dispatch_get_main_queue_port_4CF(void);
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);
void libdispatch_init(void);

// Sources
void dispatch_source_cancel_and_wait(dispatch_source_t source);
void dispatch_source_set_mandatory_cancel_handler_f(
  dispatch_source_t source, dispatch_function_t handler);

#ifdef __BLOCKS__
void dispatch_async_and_wait(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_barrier_async_and_wait(dispatch_queue_t queue, dispatch_block_t block);
void dispatch_source_set_mandatory_cancel_handler(
  dispatch_source_t source, dispatch_block_t handler);
uint64_t dispatch_benchmark(size_t count, dispatch_block_t block);
#endif

#endif
