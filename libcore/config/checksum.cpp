// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/checksum.h"

#include <openssl/evp.h>

#include <array>

#include "libcore/base/check.h"

namespace yk::config {

namespace {

constexpr std::string_view kMarker = "checksum: ";
constexpr std::size_t kDigits = 64;

/// The first marker with up to 64 characters after it, without the newlines at the end of the text and up to the next
/// marker at most; empty when there is no marker.
std::string_view checksum_entry(std::string_view text) {
    const auto start = text.find(kMarker);
    if (start == std::string_view::npos) return {};
    std::string_view value = text.substr(start + kMarker.size());
    value = value.substr(0, value.find(kMarker));
    value = value.substr(0, value.find_last_not_of('\n') + 1).substr(0, kDigits);
    return text.substr(start, kMarker.size() + value.size());
}

std::string without(std::string_view text, std::string_view entry) {
    std::string kept;
    kept.reserve(text.size());
    while (!entry.empty()) {
        const auto found = text.find(entry);
        kept += text.substr(0, found);
        if (found == std::string_view::npos) return kept;
        text.remove_prefix(found + entry.size());
    }
    return kept += text;
}

} // namespace

std::string checksum(std::string_view text) {
    const std::string content = without(text, checksum_entry(text));
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    const int done = EVP_Digest(content.data(), content.size(), digest.data(), &size, EVP_sha256(), nullptr);
    YK_CHECK(done == 1 && size == kDigits / 2, "SHA-256 is part of every OpenSSL");
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string hex;
    hex.reserve(kDigits);
    for (unsigned int i = 0; i < size; ++i) {
        hex += kHex[digest[i] >> 4];
        hex += kHex[digest[i] & 15];
    }
    return hex;
}

} // namespace yk::config
