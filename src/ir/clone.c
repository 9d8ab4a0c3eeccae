#include "ir/module.h"
