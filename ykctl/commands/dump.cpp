// SPDX-License-Identifier: Apache-2.0
// The command dump: the daemon's state as JSON, and the difference of two such files.

#include <algorithm>
#include <ostream>
#include <sstream>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dump_diff.h"
#include "ykctl/client/dump_verify.h"
#include "ykctl/client/long_lists.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

const std::vector<std::string> kWhats{"all",           "partitions", "queues",    "apps",     "nodes",
                                      "reservations",  "users",      "groups",    "rules",    "config",
                                      "utilization",   "streams",    "events",    "clusters", "history",
                                      "confighistory", "configtext", "loglevels", "recovery"};

constexpr int kDumpsCompared = 3;
constexpr int kDeepest = 100; // levels; a dump has less than a third of that

/// Writes a dump as one JSON document while its pages arrive.
std::optional<Failure> stream_dump(Context& context, std::ostream& out, const std::string& what, bool pretty) {
    JsonStream to{out, pretty};
    to.begin_object();
    to.key("schema");
    to.value(1);
    to.key("what");
    to.value(what);
    to.key("data");
    if (auto failure = write_dump(context, to, what == "all" ? "full" : what)) return failure;
    to.end();
    return std::nullopt;
}

/// The data of a full dump, all in memory.
Answer<Value> whole_dump(Context& context, const std::string& what) {
    std::ostringstream text;
    if (auto failure = stream_dump(context, text, what, false)) return *std::move(failure);
    return Value::parse(text.str());
}

Outcome dump(Context& context, const std::optional<std::string>& what, const std::optional<std::string>& path) {
    if (!what) return usage_error("dump: what?  " + join(kWhats, ", ") + "; or diff A B");
    if (std::find(kWhats.begin(), kWhats.end(), *what) == kWhats.end()) {
        return usage_error("dump: '" + *what + "' is not one of " + join(kWhats, ", ") + did_you_mean(*what, kWhats));
    }
    const auto write = [&](std::ostream& out) -> std::optional<Failure> {
        const bool pretty = context.format() != Format::JsonLines;
        if (context.format() != Format::Yaml) return stream_dump(context, out, *what, pretty);
        YK_TRY(document, whole_dump(context, *what));
        out << yaml_text(document);
        return std::nullopt;
    };
    if (!path || *path == "-") {
        if (auto failure = write(context.out())) return *failure;
        return Exit::Ok;
    }
    std::streamoff bytes = 0;
    const auto count = [&](std::ostream& out) {
        auto failure = write(out);
        bytes = out.tellp();
        return failure;
    };
    if (auto failure = write_file(*path, count)) return *failure;
    context.note(fmt::format("{} bytes written to {}", bytes, *path));
    return Exit::Ok;
}

Answer<Value> read_dump(Context& context, const std::string& path) {
    YK_TRY(text, read_text(path, context.streams().in));
    bool too_deep = false; // deeper levels are left out, so that walking the rest is safe
    const auto keep = [&](int depth, Value::parse_event_t, const Value&) {
        too_deep = too_deep || depth > kDeepest;
        return depth <= kDeepest;
    };
    auto parsed = Value::parse(text, keep, false);
    if (too_deep) return usage_error(fmt::format("{}: nested deeper than {} levels", path, kDeepest));
    if (parsed.is_discarded())
        return usage_error(path + ": is not JSON", {"dumps to compare are written by:  ykctl dump all FILE"});
    return parsed;
}

Outcome diff(Context& context, const std::string& left, const std::string& right) {
    YK_TRY(before, read_dump(context, left));
    YK_TRY(after, read_dump(context, right));
    const auto differences = dump_differences(before, after);
    if (context.machine_readable()) {
        context.out() << list_text(differences, {}, context.format(), {});
    } else {
        for (const auto& difference : differences) context.out() << difference_line(difference, context.style());
        if (!context.settings().quiet) {
            context.out() << (differences.empty() ? "no differences\n"
                                                  : pluralize(differences.size(), "difference") + "\n");
        }
    }
    return differences.empty() ? Exit::Ok : Exit::Different;
}

/// The faults of a daemon. A fault in one dump may come from a change while it was made, so only those count that later
/// dumps have, too.
Answer<std::vector<DumpFault>> faults_of_daemon(Context& context) {
    std::vector<DumpFault> faults;
    for (int i = 0; i < kDumpsCompared; ++i) {
        YK_TRY(document, whole_dump(context, "all"));
        auto found = verify_dump(member_of(document, "data"));
        if (i == 0) faults = found;
        std::erase_if(faults, [&](const DumpFault& fault) {
            return std::find(found.begin(), found.end(), fault) == found.end();
        });
        if (faults.empty()) break;
    }
    return faults;
}

Answer<std::vector<DumpFault>> faults_of_file(Context& context, const std::string& path) {
    YK_TRY(document, read_dump(context, path));
    const auto& full = member_of(document, "data");
    if (!member_of(full, "partitions").is_array())
        return usage_error(path + ": is no dump of all", {"one is written by:  ykctl dump all FILE"});
    return verify_dump(full);
}

Outcome verify(Context& context, const std::optional<std::string>& path) {
    YK_TRY(faults, path ? faults_of_file(context, *path) : faults_of_daemon(context));
    if (context.machine_readable()) {
        std::vector<Value> list;
        list.reserve(faults.size());
        for (const auto& fault : faults)
            list.push_back({{"partition", fault.partition}, {"object", fault.object}, {"text", fault.text}});
        context.out() << list_text(list, {}, context.format(), {});
    } else {
        for (const auto& fault : faults)
            context.out() << printable(fault.partition + " " + fault.object + ": " + fault.text) << "\n";
        if (faults.empty()) context.note("all sums are right, and all that is named is there");
    }
    return faults.empty() ? Exit::Ok : Exit::Different;
}

} // namespace

void define_dump(Command root, Context& context) {
    const auto command = root.sub("dump", "the daemon's state as JSON");
    const auto what = std::make_shared<std::optional<std::string>>();
    const auto path = std::make_shared<std::optional<std::string>>();
    command.option("WHAT", *what, "all, or " + join({kWhats.begin() + 1, kWhats.end()}, ", "));
    command.option("FILE", *path, "write here, default standard output").value("FILE");
    command.run([&context, what, path] { return dump(context, *what, *path); });

    const auto compare = command.sub("diff", "compare two dump files; exit 8 when they differ");
    const auto left = std::make_shared<std::string>();
    const auto right = std::make_shared<std::string>();
    compare.option("A", *left, "the older").value("FILE").required();
    compare.option("B", *right, "the newer").value("FILE").required();
    compare.run([&context, left, right] { return diff(context, *left, *right); });

    const auto check =
        command.sub("verify", "do the sums of a full dump agree, is all there that is named; exit 8 if not");
    const auto file = std::make_shared<std::optional<std::string>>();
    check.option("FILE", *file, "made by dump all, default the daemon's state now").value("FILE");
    check.run([&context, file] { return verify(context, *file); });
}

} // namespace yk::cli
