// SPDX-License-Identifier: Apache-2.0
// Fuzzes the loader of queue configurations: never a crash, bounded time and memory; a refused text has a problem with
// a message; what loads a core applies, and it can be dumped, and the dump loads as the same configuration.

#include <cstdlib>
#include <string>
#include <string_view>

#include "libcore/base/check.h"
#include "libcore/base/text.h"
#include "libcore/cluster/cluster_context.h"
#include "libcore/config/diff.h"
#include "libcore/config_yaml/dump.h"
#include "libcore/config_yaml/load.h"
#include "libcore/ports/null_callbacks.h"

using namespace yk;

namespace {

/// What the validator accepted loads into an empty core (C-471).
void apply(const config::Configuration& configuration) {
    constexpr Instant kNow{1'000'000'000};
    NullCallbacks callbacks;
    ClusterContext core{"rm", Settings{}, callbacks, callbacks};
    const auto done = core.configure(configuration, kNow);
    YK_CHECK(done.ok(), "what was accepted loads");
    YK_CHECK(core.check().empty(), "and the core is sound");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    const std::string text(reinterpret_cast<const char*>(data), size); // bytes as characters
    const config_yaml::LoadOutcome outcome = config_yaml::load(text, "fuzz");
    YK_CHECK(config_yaml::render(outcome, text).empty() == outcome.problems.empty(), "problems are shown");
    for (const config::Problem& problem : outcome.problems)
        YK_CHECK(printable(problem.path + problem.message) == problem.path + problem.message, "problems can be sent");
    if (!outcome.configuration) {
        YK_CHECK(!outcome.problems.empty() && !outcome.first_error().message.empty(), "a refusal says why");
        return 0;
    }
    config::Configuration configuration = *outcome.configuration;
    configuration.checksum.clear();
    if (configuration.partitions.empty()) return 0; // only the text of 0 bytes
    apply(configuration);
    const std::string dumped = config_yaml::dump(configuration);
    if (dumped.size() > std::size_t{1} << 20) return 0; // aliases written out
    config_yaml::LoadOutcome again = config_yaml::load(dumped, "dump");
    YK_CHECK(again.configuration.has_value(), "what was dumped loads");
    again.configuration->checksum.clear();
    YK_CHECK(config_yaml::dump(*again.configuration) == dumped, "the dump is canonical");
    YK_CHECK(config::diff(configuration, *again.configuration).empty(), "the dump is complete");
    return 0;
}
