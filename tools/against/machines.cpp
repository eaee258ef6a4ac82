// SPDX-License-Identifier: Apache-2.0
#include "tools/against/machines.h"
