// Finds functions and variables of libraries that a program may lack.
#ifndef GRANDCENTRAL_SYMBOLS_H
#define GRANDCENTRAL_SYMBOLS_H

#include <dlfcn.h>
#include <stddef.h>

// The address of a symbol: as linked, otherwise among the libraries that the program has loaded
// since; NULL: there is none.
static inline void *found(void *linked, const char *name) {
  return linked ? linked : dlsym(RTLD_DEFAULT, name);
}

// The address of a symbol that is declared weak.
#define FIND(name) found((void *)&name, #name)

#endif
