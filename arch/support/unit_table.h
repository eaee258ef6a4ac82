// SPDX-License-Identifier: Apache-2.0
// Which spellings each quantity accepts and in which unit it is written.
#pragma once

#include <string>
#include <vector>

#include "arch/support/number.h"

namespace tandem {

struct Unit {
  std::string name;
  Scale scale;  ///< to the quantity's base unit
};

struct UnitTable {
  std::string expected;        ///< "a size such as 32 GiB"
  std::string whole;           ///< for integer quantities, what cannot be divided: "bytes"
  std::vector<Unit> accepted;  ///< all spellings, the preferred ones first
  std::vector<Unit> written;   ///< powers of ten of the base unit, ascending: exact output
  std::vector<Unit> readable;  ///< what people like to read, ascending
};

/// T is any type that parse_quantity takes.
template <typename T>
const UnitTable& unit_table();

}  // namespace tandem
