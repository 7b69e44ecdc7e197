// SPDX-License-Identifier: Apache-2.0
#pragma once
// The Scalability Protocols' framing of requests and replies: a greeting, then frames, each with the numbers of its
// request in front (docs/protocol.md, Transport). Bytes in, messages out; no socket here. One for both ends.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace yk::wire {

/// What each end sends first: the protocol REQ or REP, version 0.
inline constexpr std::string_view kReqGreeting{"\0SP\0\0\x30\0\0", 8}, kRepGreeting{"\0SP\0\0\x31\0\0", 8};
/// The bytes of a request number.
inline constexpr std::size_t kRequestNumber = 4;

/// Bytes from malloc. A large block costs no memory before it is filled, so a peer cannot take memory by announcing a
/// message that it does not send.
struct FreeBytes {
    void operator()(char* bytes) const noexcept { std::free(bytes); }
};
using Bytes = std::unique_ptr<char, FreeBytes>;

/// nullptr when there is no memory.
[[nodiscard]] Bytes make_bytes(std::size_t size) noexcept;

/// One request or reply as it arrived.
class SpMessage {
public:
    SpMessage() = default;
    SpMessage(Bytes bytes, std::size_t size, std::size_t head) : bytes_(std::move(bytes)), size_(size), head_(head) {}

    /// Its numbers of 4 bytes, which a reply repeats; the last one has its highest bit set.
    [[nodiscard]] std::string_view head() const noexcept { return {bytes_.get(), head_}; }
    [[nodiscard]] std::string_view body() const noexcept { return {bytes_.get() + head_, size_ - head_}; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    Bytes bytes_;
    std::size_t size_ = 0;
    std::size_t head_ = 0;
};

/// The bytes in front of a frame of `size` bytes: its length, and with `typed` (on ipc) a byte 1 before that.
class FrameHead {
public:
    FrameHead(bool typed, std::uint64_t size);
    [[nodiscard]] std::string_view bytes() const noexcept { return {bytes_.data(), length_}; }

private:
    std::array<char, 9> bytes_{};
    std::size_t length_;
};

/// Takes a connection's bytes as they come and gives its messages.
///
/// Use: write bytes to free_space(), call took() with their number, then next() until it gives no message.
///
/// Owner: the connection. Invariants:
/// A  free_space() is not empty unless a whole message waits, or one that may not be begun
/// B  the reader holds at most kSmall bytes, and the one message that was begun
/// C  between free_space() and took() the bytes of free_space() do not move, so next() may be called during a receive
class FrameReader {
public:
    static constexpr std::size_t kSmall = 4096;

    enum class Fault {
        Greeting, // not the peer that was expected
        Frame,    // not a frame, or one without a request number
        TooLong,  // longer than the limit
        Memory
    };
    struct Next {
        std::optional<SpMessage> message;
        std::optional<Fault> fault;
        std::uint64_t wanted = 0; // bytes of a message that is too large for the small buffer and was not begun yet
    };

    /// `peer`: its greeting. `typed`: as for FrameHead.
    FrameReader(std::string_view peer, bool typed, std::size_t max_message)
        : peer_(peer), typed_(typed), max_message_(max_message) {}

    /// The memory for the next bytes. Empty: next() has to be called first.
    [[nodiscard]] std::span<char> free_space() noexcept;
    /// Notes that `count` bytes were written to the front of free_space().
    void took(std::size_t count) noexcept;
    /// The next message, if all of it has arrived. With `may_begin` a message that does not fit into the small buffer
    /// is begun, which allocates its size; without, `wanted` is the number of bytes that it will need.
    [[nodiscard]] Next next(bool may_begin);

    [[nodiscard]] bool is_greeted() const noexcept { return greeted_; }
    /// Whether it is in the middle of the greeting or of a frame.
    [[nodiscard]] bool is_partial() const noexcept { return !greeted_ || large_ != nullptr || begin_ != end_; }
    /// The size of the message that was begun; 0: none was.
    [[nodiscard]] std::uint64_t begun() const noexcept { return large_ ? large_size_ : 0; }
    /// Whether a message was begun and not all of it has arrived.
    [[nodiscard]] bool is_filling() const noexcept { return large_have_ < begun(); }

private:
    [[nodiscard]] std::string_view unread() const noexcept { return {small_.data() + begin_, end_ - begin_}; }
    void top_up() noexcept;
    [[nodiscard]] Next take_greeting();
    [[nodiscard]] Next take_frame(bool may_begin);
    [[nodiscard]] static Next as_message(Bytes bytes, std::size_t size);

    const std::string_view peer_;
    const bool typed_;
    const std::size_t max_message_;
    bool greeted_ = false;
    std::array<char, kSmall> small_;
    std::size_t begin_ = 0, end_ = 0;
    Bytes large_; // the message that was begun
    std::size_t large_size_ = 0, large_have_ = 0;
    bool into_large_ = false; // whether the last free_space() was in large_
};

} // namespace yk::wire
