/* What reading a number from text can come to. */
#ifndef HILO_NUM_NUM_STATUS_H
#define HILO_NUM_NUM_STATUS_H

typedef enum {
  HILO_NUM_OK = 0,
  HILO_NUM_SYNTAX, /* not a number of this kind, or something follows it */
  HILO_NUM_RANGE,  /* a number, but the type has no such value */
} hilo_num_status;

#endif
