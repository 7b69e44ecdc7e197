// SPDX-License-Identifier: Apache-2.0
#pragma once
// HeadCheck: whether the head of a request has the form of RFC 9112, byte by byte as it is read. The library passes
// over lines that it cannot read; one that another program in front reads otherwise would hide where the request ends.
//
// Owner: SocketStream. Thread: that of the connection. Cost: a comparison or two for each byte of the head.

#include <cstddef>
#include <string_view>

namespace yk::http {

class HeadCheck {
public:
    /// So many bytes a line may have; the library does not take more.
    static constexpr std::size_t kLongestLine = 8190;

    /// The next byte of the request; those of its body are passed over.
    void take(char byte) noexcept;
    /// Whether the head is complete: what follows is the body.
    [[nodiscard]] bool is_over() const noexcept { return is_over_; }
    /// What is wrong with the head so far, for its sender; empty: nothing.
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }
    /// Whether it is the length of a line.
    [[nodiscard]] bool is_line_too_long() const noexcept { return is_line_too_long_; }

private:
    void take_of_line(char byte) noexcept;
    void end_line() noexcept;
    void fail(std::string_view why) noexcept;

    std::size_t line_ = 0;   // its number, from 0
    std::size_t length_ = 0; // of the line so far
    bool has_colon_ = false; // a header line: its name has ended
    char last_ = 0;
    bool is_over_ = false;
    bool is_line_too_long_ = false;
    std::string_view fault_;
};

} // namespace yk::http
