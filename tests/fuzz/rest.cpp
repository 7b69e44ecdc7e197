// SPDX-License-Identifier: Apache-2.0
// Fuzzes what of a request over HTTP we read ourselves: paths, names in them, coding lists; and how a configuration
// that the daemon accepts is shown. The first line is a path, the second an Accept-Encoding, the rest a configuration.

#include <string>
#include <string_view>

#include "libcore/base/check.h"
#include "libcore/config_yaml/load.h"
#include "libcore/config_yaml/tree.h"
#include "protocol/http/gzip.h"
#include "ykd/rest/exchange/rest_answers.h"
#include "ykd/rest/rest_configuration.h"
#include "ykd/rest/rest_names.h"
#include "ykd/rest/rest_router.h"

namespace {

using namespace yk::service; // NOLINT(google-build-using-namespace): what is fuzzed

const RestRouter& router() {
    static const RestRouter kRouter{{{"GET", "/a/:name/b"}, {"GET", "/a/:name"}, {"POST", "/c"}}};
    return kRouter;
}

/// The line up to its end, which is taken off `text`.
std::string next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    text.remove_prefix(std::min(text.size(), end + 1));
    return line;
}

void check_path(const std::string& path) {
    for (const char* method : {"GET", "POST", "OPTIONS", "HEAD"}) {
        const RestMatch match = router().match(method, path);
        if (match.kind != RestMatch::Kind::Moved) continue;
        const RestMatch there = router().match(method, match.text);
        YK_CHECK(there.kind != RestMatch::Kind::Moved, "nobody is sent from one path to another for ever");
    }
    const auto plain = unescaped(path, false);
    if (!plain) return;
    YK_CHECK(unescaped(escaped_part(*plain), false) == plain, "an escaped name reads as the same name");
    static_cast<void>(is_queue_path(*plain));
}

void check_configuration(std::string_view text) {
    if (!yk::config_yaml::load(text, "fuzz").configuration) return;
    const auto shown = rest_configuration(text, "AB", {});
    yk::config::Report report;
    YK_CHECK(yk::config_yaml::parse_tree(configuration_yaml(shown), report) != nullptr, "what is shown is YAML");
    static_cast<void>(json_text(with_go_names(shown)));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    std::string_view text(reinterpret_cast<const char*>(data), size); // bytes as characters
    check_path(next_line(text));
    static_cast<void>(yk::http::accepts_gzip(next_line(text)));
    check_configuration(text);
    return 0;
}
