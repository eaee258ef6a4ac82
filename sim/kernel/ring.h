// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace tandem::sim {

/// First in, first out, in one block of memory that grows and is then used again: std::deque takes and gives back a
/// node for every large element.
template <typename T>
class Ring {
 public:
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] T& operator[](std::size_t index) { return items_[(first_ + index) & mask()]; }
  [[nodiscard]] const T& operator[](std::size_t index) const { return items_[(first_ + index) & mask()]; }
  [[nodiscard]] T& front() { return items_[first_]; }
  [[nodiscard]] const T& front() const { return items_[first_]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }

  /// What is left of an earlier element: the caller assigns all of it.
  T& push_back() {
    if (size_ == items_.size()) grow();
    ++size_;
    return back();
  }
  void push_back(const T& item) { push_back() = item; }
  void pop_front() {
    first_ = (first_ + 1) & mask();
    --size_;
  }
  void clear() { first_ = size_ = 0; }

 private:
  [[nodiscard]] std::size_t mask() const { return items_.size() - 1; }
  void grow() {
    std::vector<T> larger(items_.empty() ? 4 : items_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move((*this)[i]);
    items_ = std::move(larger);
    first_ = 0;
  }

  std::vector<T> items_;  ///< a power of two of them
  std::size_t first_ = 0, size_ = 0;
};

}  // namespace tandem::sim
