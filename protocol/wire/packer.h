// SPDX-License-Identifier: Apache-2.0
#pragma once
// Packer: appends msgpack to a Buffer in the shortest form (I-315). The forms are msgpack-cxx's; the buffer is ours,
// because most writes are only some bytes long, and the calls of sbuffer would be most of the cost.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <msgpack/pack.hpp>

#include "libcore/base/check.h"

namespace yk::wire {

/// Bytes that grow. Appending is cheap; clear() keeps the memory. Not thread safe.
class Buffer {
public:
    Buffer() = default;
    /// A copy of these bytes, in no more memory than they need.
    explicit Buffer(std::string_view bytes)
        : memory_(bytes.empty() ? nullptr : new char[bytes.size()]), size_(bytes.size()), capacity_(bytes.size()) {
        if (!bytes.empty()) std::memcpy(memory_.get(), bytes.data(), bytes.size());
    }

    /// Inlined wherever it is used: most writes are of a few bytes, whose number the compiler knows there.
    [[gnu::always_inline]] void write(const char* data, std::size_t size) {
        if (capacity_ - size_ < size) [[unlikely]]
            grow(size);
        std::memcpy(memory_.get() + size_, data, size);
        size_ += size;
    }
    void append(std::string_view bytes) {
        if (!bytes.empty()) write(bytes.data(), bytes.size());
    }
    /// Makes sure that the next `more` bytes need no allocation.
    void reserve(std::size_t more) {
        if (capacity_ - size_ < more) grow(more);
    }
    /// Replaces one byte.
    void patch(std::size_t at, char byte) noexcept {
        YK_ASSUME(at < size_, "only a byte that was written can be replaced");
        memory_[at] = byte;
    }
    void clear() noexcept { size_ = 0; }
    /// Drops the bytes that were appended since size() was `size`.
    void truncate(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }

    [[nodiscard]] const char* data() const noexcept { return memory_.get(); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::string_view view() const noexcept { return {memory_.get(), size_}; }
    [[nodiscard]] std::string str() const { return std::string{view()}; }

private:
    [[gnu::noinline]] void grow(std::size_t more) {
        const std::size_t doubled = capacity_ * 2;
        const std::size_t needed = size_ + more;
        const std::size_t capacity = std::max<std::size_t>({256, doubled, needed});
        std::unique_ptr<char[]> memory{new char[capacity]};
        if (size_ != 0) std::memcpy(memory.get(), memory_.get(), size_);
        memory_ = std::move(memory);
        capacity_ = capacity;
    }

    std::unique_ptr<char[]> memory_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

/// Writes one msgpack value after the other into a Buffer that outlives it. The caller keeps counts and order right:
/// after map(n) come n pairs of key and value, after list(n) n values.
class Packer {
public:
    explicit Packer(Buffer& buffer) noexcept : buffer_(&buffer), packer_(buffer) {}

    void map(std::size_t pairs) { packer_.pack_map(static_cast<std::uint32_t>(pairs)); }
    void list(std::size_t elements) { packer_.pack_array(static_cast<std::uint32_t>(elements)); }
    void text(std::string_view value) {
        text_head(value.size());
        buffer_->append(value);
    }
    /// What stands in front of a text of so many bytes, which somebody else writes.
    void text_head(std::size_t size) { packer_.pack_str(static_cast<std::uint32_t>(size)); }
    void binary(std::string_view bytes) {
        packer_.pack_bin(static_cast<std::uint32_t>(bytes.size()));
        buffer_->append(bytes);
    }
    void integer(std::int64_t value) { packer_.pack_int64(value); }
    void natural(std::uint64_t value) { packer_.pack_uint64(value); }
    void boolean(bool value) {
        const char byte = value ? '\xc3' : '\xc2';
        buffer_->write(&byte, 1);
    }
    void real(double value) { packer_.pack_double(value); }
    void nil() { packer_.pack_nil(); }
    /// Appends values that are already encoded.
    void raw(std::string_view encoded) { buffer_->append(encoded); }

    /// A key that is a literal of at most 31 bytes: one copy of known size.
    template <std::size_t N>
    void key(const char (&name)[N]) {
        static_assert(N - 1 < 32, "a longer key goes through text()");
        char encoded[N];
        encoded[0] = static_cast<char>(0xa0 | (N - 1));
        std::memcpy(encoded + 1, name, N - 1);
        buffer_->write(encoded, N);
    }
    template <std::size_t N>
    void field(const char (&name)[N], std::string_view value) {
        key(name);
        text(value);
    }

    [[nodiscard]] Buffer& buffer() noexcept { return *buffer_; }

private:
    Buffer* buffer_;
    msgpack::packer<Buffer> packer_;
};

} // namespace yk::wire
