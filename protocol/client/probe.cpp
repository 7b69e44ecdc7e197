// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/probe.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "protocol/transport/byte_stream.h"
#include "protocol/transport/ipc_path.h"
#include "protocol/transport/sp_frames.h"

namespace yk::wire {
namespace {

constexpr std::string_view kNumber{"\x80\0\0\x01", 4};
constexpr std::string_view kTls = "tls+";

/// `url` with the loopback address instead of an address that means all interfaces, which cannot be dialled.
std::string dialable(std::string url) {
    for (const auto& [any, own] : {std::pair<std::string_view, std::string_view>{"//0.0.0.0:", "//127.0.0.1:"},
                                   {"//[::]:", "//[::1]:"},
                                   {"//*:", "//127.0.0.1:"},
                                   {"//:", "//127.0.0.1:"}})
        if (const std::size_t at = url.find(any); at != std::string::npos) url.replace(at, any.size(), own);
    return url;
}

Error failed(const std::string& url, const std::string& why) {
    return Error::of(fmt::format("{} does not answer a request of the daemon itself: {}", url, why));
}

/// Reads until more than `least` bytes have come. Returns 0 or errno.
int read_beyond(ByteStream& stream, std::size_t least, ByteStream::Deadline until) {
    std::array<char, 256> bytes{};
    for (std::size_t have = 0; have <= least;) {
        const ReadOutcome outcome = stream.read(bytes.data(), bytes.size(), until);
        if (outcome.bytes == 0) return outcome.fault == 0 ? ECONNRESET : outcome.fault;
        have += outcome.bytes;
    }
    return 0;
}

} // namespace

bool can_probe(const std::string& url) {
    return url.size() < 2 || url.compare(url.size() - 2, 2, ":0") != 0;
}

Result<void> probe(const std::string& url, std::string_view text, std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    const bool is_tls = url.starts_with(kTls);
    auto connected = connect_stream(dialable(is_tls ? url.substr(kTls.size()) : url), {}, until);
    if (!connected.ok()) return failed(url, connected.error().message);
    const FrameHead head(!ipc_path_of(url).empty(), kNumber.size() + text.size());
    const std::string before = fmt::format("{}{}{}", kReqGreeting, head.bytes(), kNumber);
    std::size_t written = 0;
    int fault = (*connected)->write(before, text, until, written);
    if (fault == 0) fault = read_beyond(**connected, is_tls ? 0 : kReqGreeting.size(), until);
    if (fault == 0 || (is_tls && fault != ETIMEDOUT)) return {}; // TLS ends what does not begin as TLS
    return failed(url, std::strerror(fault));
}

} // namespace yk::wire
