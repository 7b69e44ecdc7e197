// SPDX-License-Identifier: Apache-2.0
#include "ykctl/work/line_output.h"

#include <unistd.h>

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

/// With one call, so that lines of several commands do not mix. What the other end does not take is lost.
void LineOutput::write_line() {
    const std::string text = prefix_ + printable(line_) + "\n";
    line_.clear();
    std::string_view rest = text;
    while (!rest.empty()) {
        const ssize_t wrote = ::write(file_, rest.data(), rest.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return;
        rest.remove_prefix(static_cast<std::size_t>(wrote));
    }
}

} // namespace yk::cli
