// SPDX-License-Identifier: Apache-2.0
#include "arch/support/unit_table.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "arch/support/units.h"

namespace tandem {
namespace {

struct Prefix {
  std::string_view name;
  int power10;
};

// Prefixes as in the SI brochure (BIPM, 9th edition, table 7); k also as K, which is common for bytes.
constexpr Prefix kSmall[] = {{"f", -15},     {"p", -12}, {"n", -9}, {"u", -6}, {"\u00b5", -6},  // micro sign
                             {"\u03bc", -6},                                                    // Greek mu
                             {"m", -3}};
constexpr Prefix kLarge[] = {{"", 0}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}};

class Units {
 public:
  Units& one(std::string name, Scale scale) {
    units_.push_back({std::move(name), scale});
    return *this;
  }
  /// prefix + name, shifted by the base unit's own power of ten.
  Units& prefixed(std::string_view name, std::span<const Prefix> prefixes, int shift = 0,
                  std::int64_t denominator = 1) {
    for (const Prefix& prefix : prefixes) {
      one(std::string(prefix.name) + std::string(name), {prefix.power10 + shift, 1, denominator});
    }
    return *this;
  }
  /// KiB, MiB, ... (IEC 80000-13).
  Units& binary(std::string_view name) {
    std::int64_t factor = 1;
    for (const char* prefix : {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}) {
      factor *= 1024;
      one(prefix + std::string(name), {0, factor, 1});
    }
    return *this;
  }
  [[nodiscard]] std::vector<Unit> list() const { return units_; }

 private:
  std::vector<Unit> units_;
};

constexpr std::int64_t kBitsPerByte = 8;

}  // namespace

template <>
const UnitTable& unit_table<Bytes>() {
  static const UnitTable table = {"a size such as 32 GiB", "bytes",
                                  Units()
                                      .binary("B")
                                      .prefixed("B", kLarge)
                                      .one("KB", {3})
                                      .one("byte", {})
                                      .one("bytes", {})
                                      .prefixed("b", kLarge, 0, kBitsPerByte)
                                      .prefixed("bit", kLarge, 0, kBitsPerByte)
                                      .list(),
                                  Units().one("B", {}).binary("B").list(), Units().one("B", {}).binary("B").list()};
  return table;
}

template <>
const UnitTable& unit_table<Flops>() {
  static const UnitTable table = {"a number of operations such as 2.5 TFLOP", "operations",
                                  Units().prefixed("FLOP", kLarge).prefixed("FLOPs", kLarge).list(),
                                  Units().prefixed("FLOP", kLarge).list(), Units().prefixed("FLOP", kLarge).list()};
  return table;
}

template <>
const UnitTable& unit_table<Cycles>() {
  static const UnitTable table = {"a number of cycles such as 24 cycles", "cycles",
                                  Units().prefixed("cycles", kLarge).one("cycle", {}).list(),
                                  Units().one("cycles", {}).list(), Units().prefixed("cycles", kLarge).list()};
  return table;
}

template <>
const UnitTable& unit_table<Bandwidth>() {
  static const UnitTable table = {"a bandwidth such as 1.2 TB/s or 800 Gbps", "",
                                  Units()
                                      .prefixed("B/s", kLarge)
                                      .binary("B/s")
                                      .one("KB/s", {3})
                                      .prefixed("Bps", kLarge)
                                      .prefixed("bps", kLarge, 0, kBitsPerByte)
                                      .prefixed("b/s", kLarge, 0, kBitsPerByte)
                                      .prefixed("bit/s", kLarge, 0, kBitsPerByte)
                                      .list(),
                                  Units().prefixed("B/s", kLarge).list(), Units().prefixed("B/s", kLarge).list()};
  return table;
}

template <>
const UnitTable& unit_table<FlopRate>() {
  static const UnitTable table = {"a rate such as 275 TFLOP/s", "",
                                  Units()
                                      .prefixed("FLOP/s", kLarge)
                                      .prefixed("FLOPS", kLarge)
                                      .prefixed("FLOPs/s", kLarge)
                                      .prefixed("OP/s", kLarge)
                                      .prefixed("OPS", kLarge)
                                      .list(),
                                  Units().prefixed("FLOP/s", kLarge).list(), Units().prefixed("FLOP/s", kLarge).list()};
  return table;
}

template <>
const UnitTable& unit_table<Frequency>() {
  static const UnitTable table = {"a frequency such as 940 MHz", "", Units().prefixed("Hz", kLarge).list(),
                                  Units().prefixed("Hz", kLarge).list(), Units().prefixed("Hz", kLarge).list()};
  return table;
}

template <>
const UnitTable& unit_table<Area>() {
  static const UnitTable table = {"an area such as 826 mm2", "",
                                  Units()
                                      .one("mm2", {6})
                                      .one("um2", {})
                                      .one("\u00b5m2", {})
                                      .one("\u03bcm2", {})
                                      .one("nm2", {-6})
                                      .one("cm2", {8})
                                      .one("mm^2", {6})
                                      .one("um^2", {})
                                      .one("nm^2", {-6})
                                      .one("cm^2", {8})
                                      .one("mm\u00b2", {6})
                                      .one("um\u00b2", {})
                                      .one("\u00b5m\u00b2", {})
                                      .one("\u03bcm\u00b2", {})
                                      .list(),
                                  Units().one("um2", {}).one("mm2", {6}).list(), Units().one("mm2", {6}).list()};
  return table;
}

template <>
const UnitTable& unit_table<Energy>() {
  static const UnitTable table = {"an energy such as 1.5 pJ", "",
                                  Units().prefixed("J", kSmall, 12).prefixed("J", kLarge, 12).list(),
                                  Units()
                                      .one("fJ", {-3})
                                      .one("pJ", {})
                                      .one("nJ", {3})
                                      .one("uJ", {6})
                                      .one("mJ", {9})
                                      .prefixed("J", kLarge, 12)
                                      .list(),
                                  Units()
                                      .one("fJ", {-3})
                                      .one("pJ", {})
                                      .one("nJ", {3})
                                      .one("uJ", {6})
                                      .one("mJ", {9})
                                      .prefixed("J", kLarge, 12)
                                      .list()};
  return table;
}

template <>
const UnitTable& unit_table<Power>() {
  static const UnitTable table = {"a power such as 400 W", "",
                                  Units().prefixed("W", kLarge).prefixed("W", kSmall).list(),
                                  Units().one("nW", {-9}).one("uW", {-6}).one("mW", {-3}).prefixed("W", kLarge).list(),
                                  Units().one("nW", {-9}).one("uW", {-6}).one("mW", {-3}).prefixed("W", kLarge).list()};
  return table;
}

template <>
const UnitTable& unit_table<Length>() {
  static const UnitTable table = {
      "a length such as 7 nm", "", Units().prefixed("m", kSmall).one("m", {}).one("cm", {-2}).one("km", {3}).list(),
      Units().one("pm", {-12}).one("nm", {-9}).one("um", {-6}).one("mm", {-3}).one("m", {}).list(),
      Units().one("pm", {-12}).one("nm", {-9}).one("um", {-6}).one("mm", {-3}).one("m", {}).list()};
  return table;
}

template <>
const UnitTable& unit_table<Seconds>() {
  static const UnitTable table = {
      "a time such as 500 ns", "",
      Units().prefixed("s", kSmall).one("s", {}).one("min", {0, 60}).one("h", {0, 3600}).one("d", {0, 86400}).list(),
      Units().one("ps", {-12}).one("ns", {-9}).one("us", {-6}).one("ms", {-3}).one("s", {}).list(),
      Units()
          .one("ps", {-12})
          .one("ns", {-9})
          .one("us", {-6})
          .one("ms", {-3})
          .one("s", {})
          .one("min", {0, 60})
          .one("h", {0, 3600})
          .one("d", {0, 86400})
          .list()};
  return table;
}

}  // namespace tandem
