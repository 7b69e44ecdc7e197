// SPDX-License-Identifier: Apache-2.0
#include "libcore/digest/recovery_digest.h"

#include <catch2/catch.hpp>

using namespace yk;
using namespace yk::recovery;

namespace {

const std::string kSize = resources_text({{"memory", 100}, {"vcore", 1}});

void add_allocation(Digest& digest, std::string_view key, bool placeholder) {
    digest.add(bucket_of("default", "app-1", key),
               line_hash(allocation_line("default", "app-1", key, "node-1", kSize, placeholder)));
}

} // namespace

TEST_CASE("I-233 the lines of a node, an application and an allocation") {
    CHECK(node_line("default", "node-1", resources_text({{"vcore", 10}, {"memory", 1000}, {"gpu", 0}}), true) ==
          "N\tdefault\tnode-1\tmemory=1000,vcore=10\t1\n");
    CHECK(node_line("gpu", "n", {}, false) == "N\tgpu\tn\t\t0\n");
    CHECK(application_line("default", "app-1") == "A\tdefault\tapp-1\n");
    CHECK(allocation_line("default", "", "pod", "n", kSize, false) ==
          "L\tdefault\t\tpod\tn\tmemory=100,vcore=1\t0\n"); // foreign
}

TEST_CASE("I-232 I-234 the hashes of the specification's lines") {
    CHECK(line_hash(node_line("default", "node-1", "memory=1000,vcore=10", true)) == 0xbed12ac409fee920);
    CHECK(line_hash(application_line("default", "app-1")) == 0x4759723375206710);
    CHECK(line_hash(allocation_line("default", "app-1", "alloc-1", "node-1", kSize, false)) == 0x904b3b91d577c385);
    CHECK(line_hash(allocation_line("default", "app-1", "alloc-2", "node-1", kSize, true)) == 0x6a9334c05d83387e);
}

TEST_CASE("I-231 a digest does not depend on the order in which objects come and go") {
    Digest one, other;
    add_allocation(one, "alloc-1", false);
    add_allocation(one, "alloc-2", true);
    add_allocation(other, "alloc-2", true);
    add_allocation(other, "alloc-3", false);
    add_allocation(other, "alloc-1", false);
    CHECK(one != other);
    other.remove(bucket_of("default", "app-1", "alloc-3"),
                 line_hash(allocation_line("default", "app-1", "alloc-3", "node-1", kSize, false)));
    CHECK(one == other);
    CHECK(one.count() == 2);
    CHECK(one.sum() == 0xfade705232fafc03); // the test vector of I-234
}

TEST_CASE("I-235 the bucket of an object does not depend on its content, and holds the sum of its line") {
    Digest before, after;
    before.add(bucket_of("default", "node-1"), line_hash(node_line("default", "node-1", "vcore=10", true)));
    after.add(bucket_of("default", "node-1"), line_hash(node_line("default", "node-1", "vcore=11", true)));
    const std::string a = before.bucket_bytes(), b = after.bucket_bytes();
    REQUIRE(a.size() == 2048);
    const std::size_t at = std::size_t{bucket_of("default", "node-1")} * 8;
    CHECK(a.substr(0, at) == b.substr(0, at));
    CHECK(a.substr(at + 8) == b.substr(at + 8));
    std::uint64_t sum = 0;
    for (const char c : a.substr(at, 8)) sum = sum << 8 | static_cast<std::uint8_t>(c);
    CHECK(sum == before.sum());
}
