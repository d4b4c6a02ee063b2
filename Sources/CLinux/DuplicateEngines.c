// Finds whether the process has several copies of the engine, for example one in the program and
// one in a library. Each image with a copy has an ELF note, elf(5), which the loader maps and
// dl_iterate_phdr(3) finds even if the image exports no symbols. The note locates the word of its
// copy, by which only one copy reports.
//    name "GrandCentral" │ type 1 │ distance to the word, 32 bits │ version of this note, 32 bits
#define _GNU_SOURCE
#include "GrandCentralLibraries.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

// Not 0: the duplicate has been reported.
__attribute__((visibility("hidden"), used)) uint32_t gc_engine_notified;

__asm__(
    ".pushsection .note.grandcentral, \"a\", %note\n"
    ".balign 4\n"
    ".long 13\n"
    ".long 8\n"
    ".long 1\n"
    ".asciz \"GrandCentral\"\n"
    ".balign 4\n"
    ".long gc_engine_notified - .\n"
    ".long 1\n"
    ".popsection\n");

struct found {
  int count;
  uint32_t *words[GC_MOST_COPIES];
  gc_engines *copies;
};

static size_t padded(size_t bytes) { return (bytes + 3) & ~(size_t)3; }

static uint32_t *word_of(const char *note, const char *end) {
  while (end - note >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
    const ElfW(Nhdr) *header = (const void *)note;
    const char *name = note + sizeof *header;
    const char *content = name + padded(header->n_namesz);
    if (header->n_namesz == 13 && header->n_descsz == 8 && memcmp(name, "GrandCentral", 13) == 0) {
      int32_t distance;
      memcpy(&distance, content, sizeof distance);
      return (uint32_t *)(void *)((uintptr_t)content + (intptr_t)distance);
    }
    note = content + padded(header->n_descsz);
  }
  return NULL;
}

static int look(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size;
  struct found *found = context;
  for (int index = 0; index < image->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &image->dlpi_phdr[index];
    if (part->p_type != PT_NOTE || part->p_align > 4) continue;
    const char *note = (const char *)(image->dlpi_addr + part->p_vaddr);
    uint32_t *word = word_of(note, note + part->p_memsz);
    if (!word || found->count == GC_MOST_COPIES) continue;
    found->words[found->count] = word;
    // The main program has no name here.
    found->copies->names[found->count++] =
        image->dlpi_name && *image->dlpi_name ? image->dlpi_name : NULL;
    return 0;
  }
  return 0;
}

bool gc_engines_found(gc_engines *copies) {
  memset(copies, 0, sizeof *copies);
  struct found found = {.copies = copies};
  dl_iterate_phdr(look, &found);
  copies->count = found.count;
  if (found.count < 2) return false;
  // relaxed: only the first exchange reports, and nothing else is read through the word.
  bool is_first = !__atomic_exchange_n(found.words[0], 1, __ATOMIC_RELAXED);
  for (int index = 1; index < found.count; index++)
    if (__atomic_exchange_n(found.words[index], 1, __ATOMIC_RELAXED)) is_first = false;
  return is_first;
}
