// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/checksum.h"

#include <catch2/catch.hpp>

using namespace yk::config;

namespace {

const std::string kText = "partitions:\n  - name: default\n";
const std::string kOfEmpty = "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855";

} // namespace

TEST_CASE("C-444 SHA-256 in upper case") {
    CHECK(checksum("") == kOfEmpty);
    CHECK(checksum("abc") == "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD");
    CHECK(checksum(kText) != checksum(kText + "#"));
}

TEST_CASE("C-444 the checksum entry does not count") {
    const std::string hash = checksum(kText);
    CHECK(checksum(kText + "checksum: " + hash) == hash);
    CHECK(checksum(kText + "checksum: ") == hash);
    CHECK(checksum("checksum: " + hash + kText) == hash); // cut after 64 characters
    CHECK(checksum("checksum: ") == kOfEmpty);
}

TEST_CASE("C-444 trailing newlines are not part of the entry, every equal entry goes") {
    CHECK(checksum("checksum: abc\n\n") == checksum("\n\n"));
    CHECK(checksum("a\nchecksum: X\nchecksum: X\n") == checksum("a\n\n\n"));
    CHECK(checksum("a\nchecksum: X\n\nchecksum: X\n") == checksum("a\n\n\n\n"));
    CHECK(checksum("a\nchecksum: X\nchecksum: Y\n") != checksum("a\n\n\n")); // another one stays
}
