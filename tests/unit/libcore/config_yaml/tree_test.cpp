// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/tree.h"

#include <catch2/catch.hpp>

using namespace yk::config_yaml;

namespace {

std::string fault_of(std::string_view text, const TreeLimits& limits = {}) {
    const auto tree = read_tree(text, "f.yaml", limits);
    return tree ? std::string{} : tree.error().text();
}

} // namespace

TEST_CASE("a tree is read from a file, or refused with the file and the place") {
    const auto tree = read_tree("a: 1\nb: '1'\n", "f.yaml");
    REQUIRE(tree);
    const auto& members = (*tree)->members;
    REQUIRE(members.size() == 2);
    CHECK(members[0].value->is_plain());
    CHECK_FALSE(members[1].value->is_plain());
    CHECK(members[1].mark.line == 2);
    CHECK(fault_of("") == "f.yaml: the file is empty");
    CHECK(fault_of("# only words\n") == "f.yaml: the file is empty");
    CHECK(fault_of("a: 1\n---\nb: 1\n").rfind("f.yaml:2:1: a second document", 0) == 0);
    CHECK(fault_of("a: [\n").find(": syntax error: ") != std::string::npos);
}

TEST_CASE("a reader chooses its limits") {
    TreeLimits limits;
    limits.depth = 2;
    CHECK(fault_of("[[x]]", limits).empty());
    CHECK(fault_of("[[[x]]]", limits) == "f.yaml:1:3: nested deeper than 2 levels");
    limits = {};
    limits.nodes = 3;
    CHECK(fault_of("[a, b]", limits).empty());
    CHECK(fault_of("[a, b, c]", limits) == "f.yaml:1:8: the document has more than 3 nodes");
    limits = {};
    limits.alias_nodes = 2;
    CHECK(fault_of("[&x a, *x, *x]", limits).empty());
    CHECK(fault_of("[&x a, *x, *x, *x]", limits).rfind("f.yaml:1:16: aliases stand for more than 2 nodes", 0) == 0);
    limits = {};
    limits.bytes = 3;
    CHECK(fault_of("abcd", limits) == "f.yaml: the text has 4 bytes, the limit is 3");
    limits = {};
    limits.key_bytes = 256;
    CHECK(fault_of(std::string(256, 'k') + ": 1", limits).empty());
}

TEST_CASE("a key that occurs twice is refused, or left to the reader") {
    constexpr std::string_view kTwice = "a: 1\na: 2\n";
    CHECK(fault_of(kTwice).rfind("f.yaml:2:1: mapping key \"a\" already defined at line 1", 0) == 0);
    TreeLimits limits;
    limits.unique_keys = false;
    const auto tree = read_tree(kTwice, "f.yaml", limits);
    REQUIRE(tree);
    REQUIRE((*tree)->members.size() == 2);
    CHECK((*tree)->members[1].value->scalar == "2");
}
