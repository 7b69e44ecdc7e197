// SPDX-License-Identifier: Apache-2.0
#include "protocol/si/errors.h"

#include <iterator>

#include <catch2/catch.hpp>

using namespace yk::si;

namespace {

struct Row {
    std::uint32_t code;
    const char* name;
    bool retryable = false;
};

} // namespace

TEST_CASE("I-390 codes and names of refusals are those of the specification, and so is what may be sent again") {
    constexpr Row kRows[] = {
        {100, "E_DECODE"},
        {101, "E_VERSION"},
        {102, "E_KIND"},
        {103, "E_LIMIT"},
        {104, "E_TOO_LARGE"},
        {105, "E_TYPE"},
        {106, "E_MISSING_FIELD"},
        {107, "E_INVALID"},
        {200, "E_AUTH"},
        {201, "E_FORBIDDEN"},
        {202, "E_SESSION_UNKNOWN"},
        {203, "E_SUPERSEDED"},
        {210, "E_SEQ_OLD"},
        {211, "E_SEQ_GAP"},
        {212, "E_SEQ_CONFLICT"},
        {220, "E_ACK_OLD"},
        {221, "E_ACK_FUTURE"},
        {222, "E_STREAM_EPOCH"},
        {300, "E_RM_UNKNOWN"},
        {301, "E_RESYNC_REQUIRED"},
        {302, "E_BAD_STATE"},
        {303, "E_RECOVERY_REQUIRED"},
        {304, "E_BUSY_STATE"},
        {310, "E_CONFIG_INVALID"},
        {311, "E_CONFIG_SOURCE"},
        {312, "E_CONFIG_STORE"},
        {320, "E_NOT_FOUND"},
        {400, "E_BUSY", true},
        {401, "E_TIMEOUT", true},
        {402, "E_SHUTTING_DOWN", true},
        {403, "E_IN_DOUBT"},
        {500, "E_INTERNAL"},
    };
    for (const Row& row : kRows) {
        INFO(row.name);
        const auto code = find_error_code(row.code);
        REQUIRE(code);
        CHECK(name(*code) == row.name);
        CHECK(is_retryable(*code) == row.retryable);
    }
    std::size_t known = 0;
    for (std::uint32_t code = 0; code < 1000; ++code)
        if (find_error_code(code)) ++known;
    CHECK(known == std::size(kRows));
}

TEST_CASE("I-390 codes and names of refused elements are those of the specification") {
    constexpr Row kRows[] = {
        {1000, "P_PARTITION_UNKNOWN"},
        {1001, "P_PARTITION_FOREIGN"},
        {1002, "P_PARTITION_STOPPED"},
        {1010, "P_APP_UNKNOWN"},
        {1011, "P_APP_EXISTS"},
        {1012, "P_APP_TERMINAL"},
        {1013, "P_USER"},
        {1014, "P_PLACEMENT"},
        {1015, "P_QUEUE_NOT_LEAF"},
        {1016, "P_ACL"},
        {1017, "P_GANG_SORT"},
        {1018, "P_GANG_TOO_LARGE"},
        {1019, "P_QUEUE_STATE"},
        {1020, "P_NODE_UNKNOWN"},
        {1021, "P_NODE_EXISTS"},
        {1022, "P_NODE_MISMATCH"},
        {1023, "P_PARTITION_CHANGE"},
        {1024, "P_ACTION"},
        {1025, "P_NO_CAPACITY"},
        {1030, "P_NO_RESOURCE"},
        {1031, "P_NEGATIVE"},
        {1032, "P_PLACEHOLDER_GROUP"},
        {1033, "P_REPEAT"},
        {1034, "P_IDENTITY_CHANGE"},
        {1035, "P_DEVICES"},
        {1040, "P_UNKNOWN_ALLOCATION"},
        {1041, "P_NO_REPLACEMENT"},
        {1050, "P_EXISTING_ALLOCATION"},
    };
    for (const Row& row : kRows) {
        INFO(row.code);
        CHECK(name(static_cast<ElementCode>(row.code)) == row.name);
    }
    CHECK(name(static_cast<ElementCode>(1)).empty());
}
