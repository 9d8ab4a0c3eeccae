/* Expand records.def with the HILO_RECORD … macros of the includer, then forget them. */
#include "ir/records.def"
#undef HILO_RECORD
#undef HILO_DIMS
#undef HILO_INT
#undef HILO_BOOL
#undef HILO_FLOAT
#undef HILO_STR
#undef HILO_TYPE
#undef HILO_REC
#undef HILO_RECS
#undef HILO_STRS
#undef HILO_TYPES
#undef HILO_RECORD_END
