#include "driver/build_id.h"

#include <elf.h>
#include <link.h>

/* Notes of one segment: name size, description size, type; then both, padded to four bytes. */
static hilo_str find_note(const char *p, size_t n) {
  while (n >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    memcpy(&note, p, sizeof(note));
    const size_t name = (note.n_namesz + 3u) & ~3u, text = (note.n_descsz + 3u) & ~3u;
    if (name > n - sizeof(note) || text > n - sizeof(note) - name) break;
    if (note.n_type == NT_GNU_BUILD_ID) return (hilo_str){p + sizeof(note) + name, note.n_descsz};
    p += sizeof(note) + name + text;
    n -= sizeof(note) + name + text;
  }
  return (hilo_str){0};
}

/* The first object is the program itself. */
static int look_at(struct dl_phdr_info *info, size_t size, void *out) {
  (void)size;
  for (int k = 0; k < info->dlpi_phnum; k++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[k];
    if (segment->p_type != PT_NOTE) continue;
    const hilo_str id =
        find_note((const char *)(info->dlpi_addr + segment->p_vaddr), (size_t)segment->p_memsz);
    if (!id.n) continue;
    *(hilo_str *)out = id;
    break;
  }
  return 1;
}

hilo_str hilo_build_id(void) {
  hilo_str id = {0};
  dl_iterate_phdr(look_at, &id);
  return id;
}
