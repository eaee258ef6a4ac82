// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace tandem {

/// A text file written front to back, compressed if its name ends in .gz. "-" is standard output. Failures are
/// ConfigError.
class TextSink {
 public:
  explicit TextSink(const std::filesystem::path& file);
  TextSink(const TextSink&) = delete;
  TextSink& operator=(const TextSink&) = delete;
  ~TextSink();

  void write(std::string_view text);
  void close();                                ///< must be called: only then is the text known to be on disk
  [[nodiscard]] std::int64_t written() const;  ///< bytes before compression

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tandem
