/* What the target has. */
#ifndef HILO_ANALYSIS_DEVICE_H
#define HILO_ANALYSIS_DEVICE_H

/* Bytes of memory of one logical core. */
#define HILO_DEVICE_BYTES (24ull << 30)

#endif
