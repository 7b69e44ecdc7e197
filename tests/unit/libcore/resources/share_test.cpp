// SPDX-License-Identifier: Apache-2.0
// Limits and shares: tables of scheduling.md sections 1, 5 and 6 as data.

#include "libcore/resources/share.h"

#include <catch2/catch.hpp>

#include "tests/unit/libcore/partition/amounts.h"

namespace yk::testing {

namespace {

int usage_compare(const char* a, const char* b, const char* total) {
    const auto whole = maybe(total);
    const Resource* of = whole ? &*whole : nullptr;
    return compare_shares(shares_of(amounts(a), of), shares_of(amounts(b), of));
}

int sign(int value) {
    return value < 0 ? -1 : value > 0 ? 1 : 0;
}

/// S-014, to the letter: no type where a < b, and one where they differ; missing is 0.
bool gt(const Resource& a, const Resource& b) {
    bool less = false, differ = false;
    for (ResourceId id = 0; id < table_names().size(); ++id) {
        less = less || a.get(id) < b.get(id);
        differ = differ || a.get(id) != b.get(id);
    }
    return !less && differ;
}

} // namespace

TEST_CASE("S-014 S-203 the order of pending amounts agrees with gt wherever that decides") {
    CHECK(gt(amounts("a:5,b:2"), amounts("a:5")));
    CHECK_FALSE(gt(amounts("a:5"), amounts("a:5,b:0")));
    CHECK_FALSE(gt(amounts("a:9,b:1"), amounts("b:2")));
    const Resource total = amounts("a:10,b:3");
    const auto some = [](unsigned number) { // four types of 0 to 3, c and d without a total
        Resource resource;
        for (const char* type : {"a", "b", "c", "d"}) {
            if (number % 4 != 0) resource.set(table_names().intern(type), number % 4);
            number /= 4;
        }
        return resource;
    };
    int decided = 0;
    for (unsigned left = 0; left < 256; ++left)
        for (unsigned right = 0; right < 256; ++right) {
            if (!gt(some(left), some(right))) continue;
            ++decided;
            if (compare_shares(shares_of(some(left), &total), shares_of(some(right), &total)) <= 0)
                FAIL(text_of(some(left)) << " against " << text_of(some(right)));
        }
    CHECK(decided > 1000);
}

TEST_CASE("S-005 a headroom has the types of the limit only") {
    CHECK(text_of(Limit(amounts("mem:10")).headroom(amounts("mem:3,cpu:2")).bounds()) == "map[mem:7]");
    CHECK(text_of(Limit(amounts("mem:10")).headroom(amounts("mem:13")).bounds()) == "map[mem:-3]");
    CHECK(Limit().headroom(amounts("mem:3")).unlimited());
}

TEST_CASE("S-009 cmin keeps a type that one side limits") {
    Limit limit(amounts("a:5,b:7"));
    limit.tighten(Limit(amounts("b:3,c:9")));
    CHECK(text_of(limit.bounds()) == "map[a:5 b:3 c:9]");
    limit.tighten(Limit());
    CHECK(text_of(limit.bounds()) == "map[a:5 b:3 c:9]");
}

TEST_CASE("S-202 the own max replaces that of the parent for its types, even if larger or 0") {
    struct Row {
        const char *parent, *own, *result;
    };
    const Row rows[] = {{"v:1000", "v:1200", "map[v:1200]"},
                        {"m:1000,v:1000", "gpu:100,v:800", "map[gpu:100 m:1000 v:800]"},
                        {"m:1000", "gpu:0", "map[gpu:0 m:1000]"}};
    for (const Row& row : rows) {
        Limit limit(amounts(row.parent));
        limit.overlay(Limit(amounts(row.own)));
        CHECK(text_of(limit.bounds()) == row.result);
    }
}

TEST_CASE("S-252 a queue tests the types of the ask only") {
    struct Row {
        const char *max, *allocated, *ask;
        bool result;
    };
    const Row rows[] = {{"", "x:5", "x:1", true},
                        {"x:1", "x:1", "y:1", true},
                        {"x:1,y:0", "y:1", "x:1", true},
                        {"x:1,y:0", "y:1", "y:1", false},
                        {"gpu:1", "gpu:2", "gpu:0,x:1", false}};
    for (const Row& row : rows) {
        INFO(row.max << " / " << row.allocated << " / " << row.ask);
        CHECK(Limit(amounts(row.max)).allows_more(amounts(row.ask), amounts(row.allocated)) == row.result);
    }
}

TEST_CASE("S-020 one share per type, zeros included; without a total the raw value") {
    const Shares shares = shares_of(amounts("v:100,m:0,g:7"), nullptr);
    CHECK(shares.size() == 3);
    CHECK(shares.at(0) == 100.0);
    CHECK(shares.at(1) == 7.0);
    CHECK(shares.at(2) == 0.0);
    const Resource total = amounts("v:500,g:0");
    const Shares of_total = shares_of(amounts("v:100,g:7"), &total);
    CHECK(of_total.at(0) == 7.0);
    CHECK(of_total.at(1) == 0.2);
}

TEST_CASE("S-021 usageCompare") {
    struct Row {
        const char *a, *b, *total;
        int result;
    };
    const Row rows[] = {{"v:100", "v:200", "v:500", -1},
                        {"v:100,m:0", "v:100", "v:500", 0},
                        {"v:100,m:50", "v:100", "v:500,m:100", 1},
                        {"v:-10", "v:5", "-", -1},
                        {"", "v:5", "-", -1},
                        {"", "v:-5", "-", 1},
                        {"", "", "-", 0},
                        {"v:1,m:1,g:1,d:1,e:1", "v:1,m:1,g:1,d:1", "-", 1}};
    for (const Row& row : rows) {
        INFO(row.a << " / " << row.b << " of " << row.total);
        CHECK(sign(usage_compare(row.a, row.b, row.total)) == row.result);
        CHECK(sign(usage_compare(row.b, row.a, row.total)) == -row.result);
    }
}

TEST_CASE("S-022 fairShare") {
    struct Row {
        const char *allocated, *guaranteed, *fair_max;
        double share;
    };
    const Row rows[] = {{"v:100,m:2500", "v:1000,m:5000", "", 0.5},
                        {"s:1000,m:1000,p:1000", "p:88888", "s:2000,m:99999,p:99999", 0.5},
                        {"v:10", "v:0", "v:5000", 1.0},
                        {"v:0,m:1000", "v:0", "m:5000", 0.2},
                        {"g:7", "-", "v:10", 0.0},
                        {"", "v:1", "v:1", 0.0},
                        {"v:-5", "v:1", "v:1", 0.0}};
    for (const Row& row : rows) {
        INFO(row.allocated << " / " << row.guaranteed);
        const auto guaranteed = maybe(row.guaranteed);
        CHECK(fair_share(amounts(row.allocated), guaranteed ? &*guaranteed : nullptr, Limit(amounts(row.fair_max))) ==
              row.share);
    }
}

TEST_CASE("S-023 lack") {
    CHECK(lack(amounts("m:10,v:4"), amounts("m:5,v:4")) == 0.5);
    CHECK(lack(amounts("m:10,v:4"), amounts("m:-3")) == 2.0);
    CHECK(lack(amounts("m:10,v:4"), amounts("m:10,v:4")) == 0.0);
    CHECK(lack(amounts("m:0,v:-4"), amounts("")) == 0.0);
}

TEST_CASE("S-024 absUsed") {
    CHECK(text_of(abs_used(amounts("a:200,b:0,c:10,d:3"), amounts("a:50,b:1,c:-5,e:1"))) == "map[a:25 b:100 c:0]");
    CHECK(text_of(abs_used(amounts("a:3"), amounts("a:2"))) == "map[a:66]");
    CHECK(text_of(abs_used(amounts("a:10"), amounts("a:25"))) == "map[a:250]");
    CHECK(text_of(abs_used(amounts("a:1"), amounts("a:9223372036854775807"))) == "map[a:2147483647]");
}

} // namespace yk::testing
