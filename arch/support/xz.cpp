// SPDX-License-Identifier: Apache-2.0
#include "arch/support/xz.h"

#include <fmt/format.h>
#include <lzma.h>

#include <array>
#include <cstdint>

#include "arch/support/error.h"

namespace tandem {
namespace {

constexpr std::uint64_t kDecoderMemory = std::uint64_t{128} << 20;

/// Owns liblzma's decoder.
struct Decoder {
  lzma_stream stream = LZMA_STREAM_INIT;
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { lzma_end(&stream); }
};

[[noreturn]] void refuse(const std::string& file, std::string problem) {
  throw ConfigError({Diagnostic{file, 0, 0, {}, std::move(problem), "a whole .xz file", {}}});
}

}  // namespace

std::string decompress_xz(std::string_view bytes, std::size_t limit, const std::string& file) {
  Decoder decoder;
  if (lzma_stream_decoder(&decoder.stream, kDecoderMemory, 0) != LZMA_OK) refuse(file, "no memory to decompress it");
  decoder.stream.next_in = reinterpret_cast<const std::uint8_t*>(bytes.data());
  decoder.stream.avail_in = bytes.size();
  std::string text;
  std::array<std::uint8_t, 65536> buffer;
  for (lzma_ret state = LZMA_OK; state != LZMA_STREAM_END;) {
    decoder.stream.next_out = buffer.data();
    decoder.stream.avail_out = buffer.size();
    state = lzma_code(&decoder.stream, LZMA_FINISH);
    text.append(reinterpret_cast<const char*>(buffer.data()), buffer.size() - decoder.stream.avail_out);
    if (text.size() > limit) refuse(file, fmt::format("holds more than {} MiB", limit >> 20));
    if (state != LZMA_OK && state != LZMA_STREAM_END) refuse(file, "is damaged or cut short");
  }
  return text;
}

}  // namespace tandem
