// SPDX-License-Identifier: Apache-2.0
// scheduling.md section 1, resources: its tables as data.

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

#include "tests/unit/libcore/partition/amounts.h"

namespace yk::testing {

TEST_CASE("S-003 quantities saturate") {
    const std::int64_t max = kMaxQuantity, min = kMinQuantity;
    CHECK(sat_add(max, 1) == max);
    CHECK(sat_add(min, -1) == min);
    CHECK(sat_sub(min, 1) == min);
    CHECK(sat_sub(max, -1) == max);
    CHECK(sat_sub(0, min) == max);
    CHECK(sat_mul(max, -1) == min + 1);
    CHECK(sat_mul(min, -1) == max);
    CHECK(sat_mul(100'000'000'000'000'000, -2000) == min);
    CHECK(sat_mul(max / 2, 4) == max);
    CHECK(sat_scale(max, 2.0) == max);
    CHECK(sat_scale(min, 2.0) == min);
    CHECK(sat_scale(7, 0.5) == 3);
    CHECK(sat_scale(-7, 0.5) == -3);
    CHECK(sat_scale(0, std::numeric_limits<double>::infinity()) == 0);
    CHECK(sat_scale(5, std::nan("")) == 0);
}

TEST_CASE("S-003 sums of resources saturate") {
    Resource sum = amounts("a:9223372036854775807,b:-9223372036854775808");
    sum.add(amounts("a:1,b:-1"));
    CHECK(text_of(sum) == "map[a:9223372036854775807 b:-9223372036854775808]");
    sum.sub(amounts("a:-1,b:1"));
    CHECK(text_of(sum) == "map[a:9223372036854775807 b:-9223372036854775808]");
}

TEST_CASE("S-002 empty and zero are two things") {
    CHECK(amounts("").empty());
    CHECK_FALSE(amounts("a:0").empty());
    CHECK(amounts("a:0").has(table_names().find("a")));
    CHECK(amounts("a:0").is_zero());
    CHECK_FALSE(amounts("a:0").deep_equals(amounts("")));
}

TEST_CASE("S-004 add and sub work over the union of the types") {
    Resource a = amounts("a:1,b:2");
    a.add(amounts("b:3,c:4"));
    CHECK(text_of(a) == "map[a:1 b:5 c:4]");
    a.sub(amounts("a:2,d:1"));
    CHECK(text_of(a) == "map[a:-1 b:5 c:4 d:-1]");
}

TEST_CASE("S-006 the clamped difference has nothing below 0") {
    Resource a = amounts("a:1,b:2");
    a.sub_clamped(amounts("a:5,b:1,c:1"));
    CHECK(text_of(a) == "map[a:0 b:1 c:0]");
}

TEST_CASE("S-008 prune leaves out what is 0") {
    Resource a = amounts("a:0,b:2,c:0");
    a.prune();
    CHECK(text_of(a) == "map[b:2]");
    CHECK(a.deep_equals(amounts("b:2")));
}

TEST_CASE("S-010 cmax counts a missing value as 0") {
    Resource a = amounts("a:1,b:-2");
    a.max_with(amounts("a:3,c:-1"));
    CHECK(text_of(a) == "map[a:3 b:0 c:0]");
}

TEST_CASE("S-011 fits and fitsUndef") {
    struct Row {
        const char *big, *small;
        bool fits, fits_undef;
    };
    const Row rows[] = {
        {"mem:10", "mem:10", true, true},
        {"mem:10", "mem:5,gpu:1", false, true},
        {"mem:10", "mem:5,gpu:0", true, true},
        {"mem:-5", "mem:0", true, true},
        {"mem:-5", "mem:1", false, false},
        {"", "mem:1", false, true},
        {"mem:10", "", true, true},
        {"mem:10", "mem:11", false, false},
        {"mem:0", "mem:-3", true, true},
        {"mem:10,gpu:0", "gpu:1", false, false},
    };
    for (const Row& row : rows) {
        INFO(row.big << " / " << row.small);
        CHECK(fits(amounts(row.big), amounts(row.small)) == row.fits);
        CHECK(Limit(amounts(row.big)).allows(amounts(row.small)) == row.fits_undef);
    }
}

TEST_CASE("S-012 equals counts a missing value as 0, deep equality does not") {
    CHECK(amounts("mem:5,gpu:0").equals(amounts("mem:5")));
    CHECK(amounts("mem:5").equals(amounts("mem:5,gpu:0")));
    CHECK_FALSE(amounts("mem:5").equals(amounts("mem:5,gpu:1")));
    CHECK_FALSE(amounts("mem:5,gpu:0").deep_equals(amounts("mem:5")));
    CHECK(amounts("mem:5,gpu:0").deep_equals(amounts("gpu:0,mem:5")));
}

TEST_CASE("S-013 zero and above zero") {
    struct Row {
        const char* amounts;
        bool is_zero, gt_zero;
    };
    const Row rows[] = {{"", true, false},        {"a:0,b:0", true, false},   {"a:1", false, true},
                        {"a:1,b:0", false, true}, {"a:1,b:-1", false, false}, {"a:-1", false, false}};
    for (const Row& row : rows) {
        INFO(row.amounts);
        CHECK(amounts(row.amounts).is_zero() == row.is_zero);
        CHECK(amounts(row.amounts).gt_zero() == row.gt_zero);
    }
}

TEST_CASE("S-032 text form, types by name") {
    CHECK(text_of(amounts("vcore:5,memory:10")) == "map[memory:10 vcore:5]");
    CHECK(text_of(Resource{}) == "map[]");
    CHECK(NamedResource{}.text() == "nil resource");
}

TEST_CASE("S-001 more types than fit inline behave the same") {
    std::string text;
    for (int i = 0; i < 12; ++i) text += (i == 0 ? "t" : ",t") + std::to_string(i) + ":" + std::to_string(i + 1);
    Resource sum = amounts(text);
    const Resource copy = sum;
    sum.add(copy);
    CHECK(fits(sum, copy));
    CHECK_FALSE(fits(copy, sum));
    sum.sub(copy);
    CHECK(sum.deep_equals(copy));
    sum.sub(copy);
    sum.prune();
    CHECK(sum.empty());
}

} // namespace yk::testing
