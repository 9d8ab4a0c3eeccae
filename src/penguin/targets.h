/* Custom calls with a longer form. Internal to penguin. */
#ifndef HILO_PENGUIN_TARGETS_H
#define HILO_PENGUIN_TARGETS_H

#include "penguin/printer.h"

void hilo_print_collective_matmul(hilo_printer *p, hilo_inst i, hilo_str target);
void hilo_print_custom_op(hilo_printer *p, hilo_inst i, hilo_str target);
void hilo_print_mlp_nki(hilo_printer *p, hilo_inst i, hilo_str target);
void hilo_print_native_kernel(hilo_printer *p, hilo_inst i, hilo_str target);
void hilo_print_quantize_mx(hilo_printer *p, hilo_inst i, hilo_str target);
void hilo_print_scaled_dot(hilo_printer *p, hilo_inst i, hilo_str target);

#endif
