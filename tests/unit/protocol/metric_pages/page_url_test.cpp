// SPDX-License-Identifier: Apache-2.0
#include "protocol/metric_pages/page_url.h"

#include <catch2/catch.hpp>

#include <vector>

namespace yk::testing {

using namespace pages;

namespace {

/// `scheme host port`, or nothing.
std::string read(std::string_view url) {
    const auto parsed = parse_page_url(url);
    if (!parsed.ok()) return {};
    return (parsed->is_secure ? "https " : "http ") + parsed->host + " " + std::to_string(parsed->port);
}

} // namespace

TEST_CASE("rs R-112 an address names a host in one way only") {
    CHECK(read("http://example.org/metrics") == "http example.org 80");
    CHECK(read("https://Example.ORG:8443?x=1&y=%20") == "https example.org 8443");
    CHECK(read("http://127.0.0.1:9100") == "http 127.0.0.1 9100");
    CHECK(read("http://[::1]:9100/metrics") == "http [::1] 9100");
    CHECK(read("https://[2001:DB8::1]") == "https [2001:db8::1] 443");
    for (const char* const wrong : {"",
                                    "http://",
                                    "http:///metrics",
                                    "HTTP://a",
                                    "ftp://a",
                                    "file:///etc/passwd",
                                    "http://user@a/",
                                    "http://a:b@c/",
                                    "http://a\\@b/",
                                    "http://a b/",
                                    "http://a\n/",
                                    "http://a/b c",
                                    "http://a/#b",
                                    "http://a/\x7f",
                                    "http://a:0/",
                                    "http://a:65536/",
                                    "http://a:/",
                                    "http://a:+80/",
                                    "http://[::1",
                                    "http://[::1]x/",
                                    "http://[]/",
                                    "http://[g::]/",
                                    "http://::1/",
                                    "http://a%41/",
                                    "//a/",
                                    "http://a:80:80/"})
        CHECK(read(wrong).empty());
    CHECK(read("http://" + std::string(254, 'a')).empty());
}

TEST_CASE("rs R-112 pages are fetched only from hosts that the settings allow") {
    const std::vector<std::string> allowed{"127.0.0.1:9100", "Metrics.example.org", "[::1]", "not a host"};
    CHECK(refusal_of("http://127.0.0.1:9100/metrics", allowed).empty());
    CHECK(refusal_of("http://metrics.example.org:1234/", allowed).empty());
    CHECK(refusal_of("https://METRICS.example.org", allowed).empty());
    CHECK(refusal_of("http://[::1]/", allowed).empty());
    CHECK(refusal_of("http://127.0.0.1:9101/metrics", allowed) ==
          "the settings do not allow 127.0.0.1:9101 (mcs.metrics.allowedHosts)");
    for (const char* const other :
         {"http://127.0.0.1/", "http://2130706433:9100/", "http://example.org/", "http://metrics.example.org.evil.org/",
          "http://x.metrics.example.org/", "http://localhost:9100/", "http://not/"})
        CHECK_FALSE(refusal_of(other, allowed).empty());
    CHECK_FALSE(refusal_of("http://127.0.0.1:9100/", {}).empty()); // as long as nobody allowed anything
    CHECK_FALSE(refusal_of("file:///etc/passwd", allowed).empty());
}

TEST_CASE("rs R-161 a host of the settings is a name or an address, with a port or without") {
    CHECK(parse_allowed_host("a.b")->host == "a.b");
    CHECK_FALSE(parse_allowed_host("a.b")->port);
    CHECK(parse_allowed_host("[::1]:80")->port == 80);
    for (const char* const wrong : {"", "a:", "a:0", "http://a", "a/b", "*", "*.example.org", "a b"})
        CHECK_FALSE(parse_allowed_host(wrong).ok());
}

} // namespace yk::testing
