// SPDX-License-Identifier: Apache-2.0
#include "protocol/http/gzip.h"

#include <algorithm>
#include <array>
#include <limits>
#include <new>

#include "libcore/base/text.h"

namespace yk::http {
namespace {

constexpr int kGzipWindow = 15 + 16; // the largest, with the head and the end of gzip
constexpr int kMemoryLevel = 8;      // zlib's default

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

/// Splits at the first `mark`, and leaves what is behind it in `text`.
std::string_view next_part(std::string_view& text, char mark) {
    const std::size_t end = std::min(text.find(mark), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    return trimmed(part);
}

/// Whether the value of `q` is nothing but zeros.
bool is_zero(std::string_view quality) {
    return quality.find_first_not_of("0.") == std::string_view::npos;
}

} // namespace

bool accepts_gzip(std::string_view accept_encoding) {
    while (!accept_encoding.empty()) {
        std::string_view coding = next_part(accept_encoding, ',');
        const std::string_view name = next_part(coding, ';');
        if (lower(name) != "gzip") continue;
        return !(coding.starts_with("q=") || coding.starts_with("Q=")) || !is_zero(coding.substr(2));
    }
    return false;
}

Gzip::Gzip() {
    if (::deflateInit2(&state_, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, kMemoryLevel, Z_DEFAULT_STRATEGY) != Z_OK)
        throw std::bad_alloc(); // what else there is to it is constant
}

Gzip::~Gzip() {
    ::deflateEnd(&state_);
}

void Gzip::run(std::string_view part, int mode, std::string& out) {
    std::array<char, 16384> buffer{};
    do {
        const std::size_t now = std::min<std::size_t>(part.size(), std::numeric_limits<uInt>::max());
        state_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(part.data()));
        state_.avail_in = static_cast<uInt>(now);
        const int step = now == part.size() ? mode : Z_NO_FLUSH;
        do {
            state_.next_out = reinterpret_cast<Bytef*>(buffer.data());
            state_.avail_out = static_cast<uInt>(buffer.size());
            ::deflate(&state_, step);
            out.append(buffer.data(), buffer.size() - state_.avail_out);
        } while (state_.avail_out == 0);
        part.remove_prefix(now);
    } while (!part.empty());
}

} // namespace yk::http
