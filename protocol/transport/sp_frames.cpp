// SPDX-License-Identifier: Apache-2.0
#include "protocol/transport/sp_frames.h"

#include <algorithm>
#include <cstring>

#include "libcore/base/check.h"

namespace yk::wire {
namespace {

constexpr char kMessageType = 1; // on ipc, in front of the size
constexpr std::size_t kSizeLength = 8;
constexpr std::size_t kMaxHops = 8; // numbers in front of a request; with more it went round in a circle

std::uint64_t big_endian(std::string_view bytes) noexcept {
    std::uint64_t value = 0;
    for (const char c : bytes) value = value << 8U | static_cast<unsigned char>(c);
    return value;
}

/// The bytes of the request numbers; nullopt when none of them is marked as the last one.
std::optional<std::size_t> length_of_head(std::string_view message) noexcept {
    for (std::size_t hop = 0; hop < kMaxHops && (hop + 1) * kRequestNumber <= message.size(); ++hop)
        if ((static_cast<unsigned char>(message[hop * kRequestNumber]) & 0x80U) != 0) return (hop + 1) * kRequestNumber;
    return std::nullopt;
}

} // namespace

Bytes make_bytes(std::size_t size) noexcept {
    return Bytes{static_cast<char*>(std::malloc(size == 0 ? 1 : size))};
}

FrameHead::FrameHead(bool typed, std::uint64_t size) : length_(typed ? 1 + kSizeLength : kSizeLength) {
    if (typed) bytes_[0] = kMessageType;
    for (std::size_t i = 0; i < kSizeLength; ++i)
        bytes_[length_ - 1 - i] = static_cast<char>(static_cast<unsigned char>(size >> (8 * i)));
}

std::span<char> FrameReader::free_space() noexcept {
    top_up();
    into_large_ = large_ != nullptr && large_have_ < large_size_;
    if (into_large_) return {large_.get() + large_have_, large_size_ - large_have_};
    if (begin_ != 0) {
        std::memmove(small_.data(), small_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    return {small_.data() + end_, kSmall - end_};
}

void FrameReader::took(std::size_t count) noexcept {
    YK_ASSUME(count <= (into_large_ ? large_size_ - large_have_ : kSmall - end_),
              "no more was written than free_space() has");
    (into_large_ ? large_have_ : end_) += count;
}

/// Moves the bytes of a large message that arrived in the small buffer to that message.
void FrameReader::top_up() noexcept {
    if (large_ == nullptr) return;
    const std::size_t count = std::min(end_ - begin_, large_size_ - large_have_);
    if (count == 0) return;
    std::memcpy(large_.get() + large_have_, small_.data() + begin_, count);
    large_have_ += count;
    begin_ += count;
}

FrameReader::Next FrameReader::next(bool may_begin) {
    if (!greeted_) return take_greeting();
    if (large_ == nullptr) return take_frame(may_begin);
    top_up();
    if (large_have_ < large_size_) return {};
    return as_message(std::move(large_), large_size_);
}

FrameReader::Next FrameReader::take_greeting() {
    const std::string_view received = unread().substr(0, peer_.size());
    if (received != peer_.substr(0, received.size())) return {{}, Fault::Greeting, 0};
    if (received.size() < peer_.size()) return {};
    begin_ += received.size();
    greeted_ = true;
    return take_frame(false);
}

FrameReader::Next FrameReader::take_frame(bool may_begin) {
    const std::size_t before = typed_ ? 1 + kSizeLength : kSizeLength;
    const std::string_view bytes = unread();
    if (typed_ && !bytes.empty() && bytes.front() != kMessageType) return {{}, Fault::Frame, 0};
    if (bytes.size() < before) return {};
    const std::uint64_t size = big_endian(bytes.substr(before - kSizeLength, kSizeLength));
    if (size > max_message_) return {{}, Fault::TooLong, 0};
    if (size < kRequestNumber) return {{}, Fault::Frame, 0};
    const auto length = static_cast<std::size_t>(size);
    const std::string_view there = bytes.substr(before, length);
    const bool whole = there.size() == length;
    if (!whole && before + length <= kSmall) return {}; // the small buffer will hold all of it
    if (!whole && !may_begin) return {{}, {}, size};
    Bytes message = make_bytes(length);
    if (message == nullptr) return {{}, Fault::Memory, 0};
    std::memcpy(message.get(), there.data(), there.size());
    begin_ += before + there.size();
    if (whole) return as_message(std::move(message), length);
    large_ = std::move(message);
    large_size_ = length;
    large_have_ = there.size();
    return {};
}

FrameReader::Next FrameReader::as_message(Bytes bytes, std::size_t size) {
    const auto head = length_of_head({bytes.get(), size});
    if (!head) return {{}, Fault::Frame, 0};
    return {SpMessage{std::move(bytes), size, *head}, {}, 0};
}

} // namespace yk::wire
