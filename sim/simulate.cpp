#include "sim/simulate.h"
