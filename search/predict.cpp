#include "search/predict.h"
