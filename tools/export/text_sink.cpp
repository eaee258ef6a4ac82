// SPDX-License-Identifier: Apache-2.0
#include "tools/export/text_sink.h"

#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "arch/support/error.h"
#include "tools/session.h"

namespace tandem {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 20;

}  // namespace

struct TextSink::State {
  std::filesystem::path file;
  std::FILE* plain = nullptr;
  gzFile compressed = nullptr;
  bool standard_output = false;
  std::string buffer;
  std::int64_t written = 0;

  [[noreturn]] void fail(const char* cause) const {
    throw ConfigError({Diagnostic{file.string(), 0, 0, "", std::string("cannot be written: ") + cause, "", ""}});
  }

  void drain() {
    if (buffer.empty()) return;
    if (standard_output) {
      print(buffer);
    } else if (compressed != nullptr) {
      const auto size = static_cast<unsigned>(buffer.size());
      if (gzwrite(compressed, buffer.data(), size) != static_cast<int>(size)) fail("disk full?");
    } else if (std::fwrite(buffer.data(), 1, buffer.size(), plain) != buffer.size()) {
      fail(std::strerror(errno));
    }
    buffer.clear();
  }
};

TextSink::TextSink(const std::filesystem::path& file) : state_(std::make_unique<State>()) {
  state_->file = file;
  if (file == "-") {
    state_->standard_output = true;
  } else if (file.extension() == ".gz") {
    state_->compressed = gzopen(file.c_str(), "wb6");
    if (state_->compressed == nullptr) state_->fail(std::strerror(errno));
  } else {
    state_->plain = std::fopen(file.c_str(), "wb");
    if (state_->plain == nullptr) state_->fail(std::strerror(errno));
  }
}

TextSink::~TextSink() {
  if (state_->compressed != nullptr) gzclose(state_->compressed);
  if (state_->plain != nullptr) std::fclose(state_->plain);
}

void TextSink::write(std::string_view text) {
  state_->buffer += text;
  state_->written += static_cast<std::int64_t>(text.size());
  if (state_->buffer.size() >= kBuffered) state_->drain();
}

void TextSink::close() {
  state_->drain();
  gzFile compressed = state_->compressed;
  std::FILE* plain = state_->plain;
  state_->compressed = nullptr;
  state_->plain = nullptr;
  if (compressed != nullptr && gzclose(compressed) != Z_OK) state_->fail("disk full?");
  if (plain != nullptr && std::fclose(plain) != 0) state_->fail(std::strerror(errno));
}

std::int64_t TextSink::written() const { return state_->written; }

}  // namespace tandem
