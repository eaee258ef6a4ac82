#include "workloads/operator.h"
