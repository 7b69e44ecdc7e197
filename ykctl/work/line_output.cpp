// SPDX-License-Identifier: Apache-2.0
#include "ykctl/work/line_output.h"

#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

constexpr std::size_t kLongestLine = 4096;

} // namespace

LineOutput::~LineOutput() {
    if (!line_.empty()) write_line();
}

void LineOutput::write(std::string_view text) {
    if (left_ == 0) return;
    const bool is_last = text.size() >= left_;
    const auto taken = text.substr(0, static_cast<std::size_t>(is_last ? left_ : text.size()));
    left_ -= taken.size();
    for (const char each : taken) {
        if (each != '\n') line_ += each;
        if (each == '\n' || line_.size() >= kLongestLine) write_line();
    }
    if (!is_last) return;
    if (!line_.empty()) write_line();
    line_ = "[output beyond " + std::to_string(limit_) + " bytes is dropped]";
    write_line();
}

/// With one call for each part that fits into any pipe that takes something, so that lines of several commands do not
/// mix. What the other end does not take now is lost: neither a command nor this program waits for a reader that has
/// stopped.
void LineOutput::write_line() {
    const std::string text = prefix_ + printable(line_) + "\n";
    line_.clear();
    std::string_view rest = text;
    while (!rest.empty()) {
        ::pollfd ready{file_, POLLOUT, 0};
        if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return;
        const ssize_t wrote = ::write(file_, rest.data(), std::min<std::size_t>(rest.size(), PIPE_BUF));
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return;
        rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

} // namespace yk::cli
