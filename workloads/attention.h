// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "workloads/layer_builder.h"

namespace tandem {

/// Projection to queries, keys and values, attention, output projection; the result is a partial sum over tp.
LayerBuilder::Index add_attention(LayerBuilder& in, const LayerBuilder::After& from);

}  // namespace tandem
