// SPDX-License-Identifier: Apache-2.0
// A stable fingerprint of inputs, for run directories and traces. Not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

/// 64-bit FNV-1a. Source: Fowler, Noll, Vo, Eastlake, "The FNV Non-Cryptographic Hash Algorithm" (IETF draft),
/// section 2.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3U;
  }
  return hash;
}

/// The same as 16 lower-case hexadecimal digits.
inline std::string hash_text(std::string_view text) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::uint64_t hash = fnv1a(text);
  std::string out(16, '0');
  for (std::size_t i = out.size(); i-- > 0; hash >>= 4U) out[i] = kDigits[hash & 0xFU];
  return out;
}

}  // namespace tandem
