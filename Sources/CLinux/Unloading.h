// What a plug-in that contains the engine needs when a program closes it.
#ifndef GRANDCENTRAL_UNLOADING_H
#define GRANDCENTRAL_UNLOADING_H

// Keeps the library that contains this code in the process, also after dlclose(3).
void gc_stay_loaded(void);

#endif
