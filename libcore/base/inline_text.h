// SPDX-License-Identifier: Apache-2.0
#pragma once
// InlineText: a short immutable text in 40 bytes. Up to 38 bytes (an id of 36 characters) are stored in the object,
// longer ones on the heap. For objects that exist a million times, where a std::string would cost 32 bytes and an
// allocation.

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace yk {

class InlineText {
public:
    InlineText() noexcept { clear(); }
    explicit InlineText(std::string_view text) {
        clear();
        assign(text);
    }
    InlineText(const InlineText&) = delete;
    InlineText& operator=(const InlineText&) = delete;
    InlineText(InlineText&& other) noexcept {
        std::memcpy(bytes_, other.bytes_, sizeof bytes_);
        other.clear();
    }
    InlineText& operator=(InlineText&& other) noexcept {
        if (this != &other) {
            release();
            std::memcpy(bytes_, other.bytes_, sizeof bytes_);
            other.clear();
        }
        return *this;
    }
    ~InlineText() { release(); }

    void assign(std::string_view text) {
        release();
        if (text.size() <= kInline) {
            if (!text.empty()) std::memcpy(bytes_, text.data(), text.size());
            bytes_[kTag] = static_cast<char>(text.size());
            return;
        }
        Heap heap{new char[text.size()], text.size()};
        std::memcpy(heap.data, text.data(), text.size());
        std::memcpy(bytes_, &heap, sizeof heap);
        bytes_[kTag] = kOnHeap;
    }

    [[nodiscard]] std::string_view view() const noexcept {
        if (bytes_[kTag] != kOnHeap) return {bytes_, static_cast<std::size_t>(bytes_[kTag])};
        const Heap heap = heap_part();
        return {heap.data, heap.size};
    }

private:
    struct Heap {
        char* data;
        std::size_t size;
    };
    static constexpr std::size_t kInline = 38;
    static constexpr std::size_t kTag = 39;
    static constexpr char kOnHeap = 127;

    void clear() noexcept { bytes_[kTag] = 0; }
    [[nodiscard]] Heap heap_part() const noexcept {
        Heap heap{};
        std::memcpy(&heap, bytes_, sizeof heap);
        return heap;
    }
    void release() noexcept {
        if (bytes_[kTag] == kOnHeap) delete[] heap_part().data;
        clear();
    }

    alignas(8) char bytes_[40];
};

} // namespace yk
