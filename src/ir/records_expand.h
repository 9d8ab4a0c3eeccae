/* Expand records.def with the HILO_RECORD … macros of the includer, then forget them. */
#include "ir/records.def"
#undef HILO_RECORD
#undef HILO_FIELD_DIMS
#undef HILO_FIELD_INT
#undef HILO_FIELD_BOOL
#undef HILO_FIELD_FLOAT
#undef HILO_FIELD_STR
#undef HILO_FIELD_TYPE
#undef HILO_FIELD_REC
#undef HILO_FIELD_RECS
#undef HILO_FIELD_STRS
#undef HILO_FIELD_TYPES
#undef HILO_RECORD_END
