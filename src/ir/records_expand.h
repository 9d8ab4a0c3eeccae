/* Expand records.def with the HILO_RECORD … macros of the includer, then forget them. Who has use
 * for families only defines none but HILO_RECORD; else all kinds of fields must be defined. */
#ifndef HILO_RECORD_END
#define HILO_RECORD_END(family)
#define HILO_FIELD_DIMS(family, field)
#define HILO_FIELD_INT(family, field)
#define HILO_FIELD_BOOL(family, field)
#define HILO_FIELD_FLOAT(family, field)
#define HILO_FIELD_STR(family, field)
#define HILO_FIELD_LABEL(family, field)
#define HILO_FIELD_TYPE(family, field)
#define HILO_FIELD_REC(family, field)
#define HILO_FIELD_RECS(family, field)
#define HILO_FIELD_METAS(family, field)
#define HILO_FIELD_STRS(family, field)
#define HILO_FIELD_TYPES(family, field)
#endif
#include "ir/records.def"
#undef HILO_RECORD
#undef HILO_FIELD_DIMS
#undef HILO_FIELD_INT
#undef HILO_FIELD_BOOL
#undef HILO_FIELD_FLOAT
#undef HILO_FIELD_STR
#undef HILO_FIELD_LABEL
#undef HILO_FIELD_TYPE
#undef HILO_FIELD_REC
#undef HILO_FIELD_RECS
#undef HILO_FIELD_METAS
#undef HILO_FIELD_STRS
#undef HILO_FIELD_TYPES
#undef HILO_RECORD_END
