// SPDX-License-Identifier: Apache-2.0
#include "ykd/recording/files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace yk {

std::string utc_stamp(Instant at) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    const auto seconds = static_cast<std::time_t>(at.ns / kSecond);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                       utc.tm_hour, utc.tm_min, utc.tm_sec, at.ns % kSecond / 1'000'000);
}

int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

} // namespace yk
