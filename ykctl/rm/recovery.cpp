// SPDX-License-Identifier: Apache-2.0
// The commands recovery done, list, resolve, and the options of rm register that begin a recovery.

#include "ykctl/rm/recovery.h"

#include <array>
#include <charconv>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "protocol/si/recovery_messages.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/output/recovery_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::uint32_t kObjectsPerPage = 10'000; // the most that one answer has (I-240)

/// The RM that is named, else that of -r, else the only one.
Answer<std::string> rm_named(Context& context, const std::optional<std::string>& id) {
    if (id) return *id;
    YK_TRY(only, context.rm());
    return only.id;
}

Failure with_advice(Failure failure, const std::string& rm) {
    if (failure.name == "E_BAD_STATE" && failure.hints.empty())
        failure.hints = {"in which state is it?  ykctl rm show " + rm};
    return failure;
}

// --- recovery list --------------------------------------------------------------------------------------------------

/// Hands on the restored objects of one kind, some at a time.
std::optional<Failure> list_restored(Context& context, si::RecoveryListRequest request, const TakeItems& take) {
    request.limit = kObjectsPerPage;
    do {
        auto page = context.call_for_rm(request);
        if (!page.ok()) return with_advice(std::move(page).error(), request.rm_id);
        const Value& items = member_of(*page, "items");
        take(std::vector<Value>(items.begin(), items.end()));
        request.cursor = text_of(*page, "cursor");
    } while (!request.cursor.empty());
    return std::nullopt;
}

std::uint64_t hash_of(const Value& item) {
    const Value& hash = member_of(item, "hash");
    return hash.is_number_integer() ? hash.get<std::uint64_t>() : 0;
}

struct ListOptions {
    std::string kind;
    std::optional<std::string> rm;
    std::optional<std::int64_t> bucket;
    WatchOptions watch;
};

ListLayout restored_layout(const std::string& kind) {
    Column partition{{"PARTITION"}, [](const Value& item) {
                         const auto full = text_of(item, "partitionName");
                         return printable(full.substr(full.find(']') + 1));
                     }};
    partition.wide = true;
    partition.when_varied = true;
    ListLayout layout;
    const char* name = "nodeID";
    if (kind == "nodes") {
        layout.columns = {text_column("NODE", name)};
    } else if (kind == "applications") {
        name = "applicationID";
        layout.columns = {text_column("APPLICATION", name)};
    } else {
        name = "allocationKey";
        layout.columns = {text_column("APPLICATION", "applicationID"), text_column("ALLOCATION", name),
                          text_column("NODE", "nodeID")};
    }
    layout.columns.push_back({{"HASH"}, [](const Value& item) { return fmt::format("{:016x}", hash_of(item)); }});
    layout.columns.push_back(std::move(partition));
    layout.name = [name](const Value& item) { return text_of(item, name); };
    layout.nothing = "no " + kind + " were restored";
    return layout;
}

Outcome show_restored(Context& context, ListOptions& options) {
    if (options.bucket && (*options.bucket < 0 || *options.bucket > 255)) return usage_error("--bucket: from 0 to 255");
    YK_TRY(rm, rm_named(context, options.rm));
    si::RecoveryListRequest request{.rm_id = rm, .kind = options.kind};
    if (options.bucket) request.bucket = static_cast<std::uint32_t>(*options.bucket);
    return list_or_watch(
        context, options.watch,
        {{},
         [&options] { return Answer<ListLayout>{restored_layout(options.kind)}; },
         [&context, &request](const TakeItems& take) { return list_restored(context, request, take); }});
}

// --- recovery done --------------------------------------------------------------------------------------------------

struct DoneOptions {
    std::optional<std::string> rm;
    std::string id;
    std::int64_t attempt = 1;
    bool as_restored = false;
    std::optional<std::int64_t> nodes, applications, allocations, asks;
    std::optional<std::string> digest_nodes, digest_applications, digest_allocations;
};

/// One kind of object in a claim: its options, and its members in the message.
struct ClaimedKind {
    const char* name;
    std::optional<std::int64_t> DoneOptions::*count;
    std::optional<std::string> DoneOptions::*digest;
    std::uint64_t si::RecoveryCounts::*expected;
    std::uint64_t si::RecoveryDigests::*sum;
};

constexpr std::array kClaimedKinds{
    ClaimedKind{"nodes", &DoneOptions::nodes, &DoneOptions::digest_nodes, &si::RecoveryCounts::nodes,
                &si::RecoveryDigests::nodes},
    ClaimedKind{"applications", &DoneOptions::applications, &DoneOptions::digest_applications,
                &si::RecoveryCounts::applications, &si::RecoveryDigests::applications},
    ClaimedKind{"allocations", &DoneOptions::allocations, &DoneOptions::digest_allocations,
                &si::RecoveryCounts::allocations, &si::RecoveryDigests::allocations},
};

/// A digest, decimal or with 0x before its hexadecimal digits.
Answer<std::uint64_t> parse_digest(const std::string& option, const std::string& text) {
    const bool is_hex = text.starts_with("0x");
    const char* const begin = text.data() + (is_hex ? 2 : 0);
    const char* const end = text.data() + text.size();
    std::uint64_t digest = 0;
    const auto [stopped, problem] = std::from_chars(begin, end, digest, is_hex ? 16 : 10);
    if (problem != std::errc{} || stopped != end)
        return usage_error(option + ": '" + text + "' is neither a number below 2^64 nor 0x and up to 16 digits");
    return digest;
}

/// Reads the options of one kind into the claim. What is not given does not exist.
std::optional<Failure> add_given(const DoneOptions& options, const ClaimedKind& kind, si::RecoveryDoneRequest& claim) {
    const auto& count = options.*kind.count;
    const auto& digest = options.*kind.digest;
    const std::string option = std::string{"--"} + kind.name, digest_option = std::string{"--digest-"} + kind.name;
    if (count && *count < 0) return usage_error(option + ": not negative");
    const bool has_some = count.value_or(0) > 0;
    if (has_some && !digest) return usage_error(option + ": the digest is missing; give " + digest_option);
    if (!has_some && digest) return usage_error(digest_option + ": the digest of how many?  " + option + " N");
    if (!has_some) return std::nullopt;
    auto sum = parse_digest(digest_option, *digest);
    if (!sum.ok()) return std::move(sum).error();
    claim.expected.*kind.expected = static_cast<std::uint64_t>(*count);
    claim.digest.*kind.sum = *sum;
    return std::nullopt;
}

/// Claims what the daemon lists as restored.
std::optional<Failure> add_restored(Context& context, const ClaimedKind& kind, si::RecoveryDoneRequest& claim) {
    return list_restored(context, {.rm_id = claim.rm_id, .kind = kind.name}, [&](const std::vector<Value>& items) {
        claim.expected.*kind.expected += items.size();
        for (const Value& item : items) claim.digest.*kind.sum += hash_of(item); // mod 2^64 (I-231)
    });
}

bool gives_any(const DoneOptions& options) {
    for (const auto& kind : kClaimedKinds)
        if (options.*kind.count || options.*kind.digest) return true;
    return false;
}

std::optional<Failure> check(const DoneOptions& options) {
    if (options.attempt < 1 || options.attempt > std::numeric_limits<std::uint32_t>::max())
        return usage_error("--attempt: from 1 (32 bits)");
    if (options.asks.value_or(0) < 0) return usage_error("--asks: not negative");
    if (options.as_restored && gives_any(options))
        return usage_error("either --as-restored or counts and digests: --as-restored fetches them from ykd");
    if (options.as_restored || gives_any(options)) return std::nullopt;
    return usage_error("recovery done: what does the RM have?",
                       {"counts and digests:  --nodes N --digest-nodes X, and so on for applications and allocations",
                        "what ykd has restored, after a look at it (ykctl recovery list):  --as-restored",
                        "nothing at all:  --nodes 0"});
}

Answer<si::RecoveryDoneRequest> claim_of(Context& context, const DoneOptions& options) {
    if (auto failure = check(options)) return *std::move(failure);
    si::RecoveryDoneRequest claim{.id = options.id, .attempt = static_cast<std::uint32_t>(options.attempt)};
    if (options.asks) claim.expected.asks = static_cast<std::uint64_t>(*options.asks);
    if (!options.as_restored) {
        for (const auto& kind : kClaimedKinds)
            if (auto failure = add_given(options, kind, claim)) return *std::move(failure);
    }
    YK_TRY(rm, rm_named(context, options.rm));
    claim.rm_id = std::move(rm);
    if (options.as_restored) {
        for (const auto& kind : kClaimedKinds)
            if (auto failure = add_restored(context, kind, claim)) return *std::move(failure);
    }
    return claim;
}

Outcome send_done(Context& context, const DoneOptions& options) {
    YK_TRY(claim, claim_of(context, options));
    auto report = context.call_for_rm(claim);
    if (!report.ok()) return with_advice(std::move(report).error(), claim.rm_id);
    const auto result = text_of(*report, "result");
    YK_TRY(shown, context.show_item(*report, result,
                                    context.settings().quiet ? std::string{}
                                                             : recovery_report_text(*report, context.style())));
    return result == "running" ? shown : Exit::Refused;
}

// --- recovery resolve -----------------------------------------------------------------------------------------------

struct ResolveOptions {
    std::string action;
    std::optional<std::string> rm;
};

/// What became of the RM, and what there is to do now.
std::string resolved_text(const std::string& rm, const std::string& action, const std::string& state) {
    const auto name = printable(rm);
    if (action == "abort") return fmt::format("rm {} deregistered, with all that it had\n", name);
    const auto end = fmt::format("then  ykctl recovery done {} --id ID\n", name);
    if (action == "retry")
        return fmt::format("rm {} is {} and keeps what it has: send what is missing, {}", name, state, end);
    if (action == "reset") return fmt::format("rm {} is {} and empty: report all that it has, {}", name, state, end);
    return fmt::format("rm {} is {}; what is quarantined is set aside and still counts on its nodes\n", name, state);
}

Outcome resolve(Context& context, const ResolveOptions& options) {
    YK_TRY(rm, rm_named(context, options.rm));
    auto reply = context.call_for_rm(si::ResolveRecoveryRequest{.rm_id = rm, .action = options.action});
    if (!reply.ok()) return with_advice(std::move(reply).error(), rm);
    const auto state = number_of(*reply, "state");
    return context.show_item({{"rmID", rm}, {"action", options.action}, {"state", state}}, rm,
                             context.settings().quiet ? std::string{}
                                                      : resolved_text(rm, options.action, core_state_text(state)));
}

// --- the options of a registration ----------------------------------------------------------------------------------

constexpr std::int64_t kLargest32 = std::numeric_limits<std::uint32_t>::max();

/// A limit of time in whole seconds; `seconds` stays as it is when none is given.
std::optional<Failure> read_seconds(const char* option, const std::optional<std::chrono::milliseconds>& time,
                                    std::optional<std::uint32_t>& seconds) {
    if (!time) return std::nullopt;
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(*time);
    if (whole != *time || whole.count() < 1) return usage_error(std::string{option} + ": whole seconds, at least 1s");
    if (whole.count() > kLargest32) return usage_error(std::string{option} + ": out of range (32 bits)");
    seconds = static_cast<std::uint32_t>(whole.count());
    return std::nullopt;
}

/// The counts of `nodes=3,applications=1`.
Answer<si::RecoveryCounts> parse_counts(const std::vector<std::string>& texts) {
    static const std::vector<std::string> kNames{"nodes", "applications", "allocations", "asks"};
    YK_TRY(pairs, parse_pairs(split_lists(texts), "--expect"));
    si::RecoveryCounts counts;
    for (const auto& [name, text] : pairs) {
        const auto count = parse_integer(text);
        if (!count.ok()) return usage_error("--expect: " + name + ": " + count.error().message);
        if (*count < 0) return usage_error("--expect: " + name + ": not negative");
        const auto number = static_cast<std::uint64_t>(*count);
        if (name == "nodes")
            counts.nodes = number;
        else if (name == "applications")
            counts.applications = number;
        else if (name == "allocations")
            counts.allocations = number;
        else if (name == "asks")
            counts.asks = number;
        else
            return usage_error("--expect: '" + name + "' is not one of " + join(kNames, ", ") +
                               did_you_mean(name, kNames));
    }
    return counts;
}

} // namespace

Answer<std::optional<si::RecoveryRequest>> recovery_request(const RecoveryOptions& options) {
    if (!options.id) {
        if (options.timeout || options.idle || options.no_force_applications || options.max_quarantined ||
            !options.expected.empty())
            return usage_error("--recovery-timeout, --recovery-idle, --no-force-applications, --max-quarantined and "
                               "--expect are about a recovery",
                               {"begin one:  --recovery ID"});
        return std::optional<si::RecoveryRequest>{};
    }
    if (options.id->empty()) return usage_error("--recovery: a name for this recovery, such as the time");
    si::RecoveryRequest request;
    request.id = *options.id;
    if (auto failure = read_seconds("--recovery-timeout", options.timeout, request.timeout_seconds))
        return *std::move(failure);
    if (auto failure = read_seconds("--recovery-idle", options.idle, request.idle_seconds)) return *std::move(failure);
    request.force_applications = !options.no_force_applications;
    const auto quarantined = options.max_quarantined.value_or(0);
    if (quarantined < 0 || quarantined > kLargest32) return usage_error("--max-quarantined: from 0 (32 bits)");
    request.auto_accept.max_quarantined = static_cast<std::uint32_t>(quarantined);
    if (!options.expected.empty()) {
        YK_TRY(counts, parse_counts(options.expected));
        request.expected = counts;
    }
    return std::optional<si::RecoveryRequest>{std::move(request)};
}

void define_recovery_options(Command command, RecoveryOptions& options) {
    command.option("--recovery", options.id, "begin a recovery of this name: the RM reports what it has").value("ID");
    command.option("--recovery-timeout", options.timeout, "the recovery fails after this time, default 10m");
    command.option("--recovery-idle", options.idle, "and when so long nothing is reported, default 2m");
    command.flag("--no-force-applications", options.no_force_applications,
                 "reject applications that no queue takes, instead of root.@recovery@");
    command.option("--max-quarantined", options.max_quarantined,
                   "succeed with up to so many objects in quarantine, default 0");
    command.option("--expect", options.expected, "how much will be reported (nodes=…,applications=…), for display")
        .value("COUNTS");
}

namespace {

const std::vector<std::string> kActions{"retry", "reset", "accept", "abort"};

void define_done(Command recovery, Context& context) {
    const auto command = recovery.sub("done", "everything is reported: compare, and let the RM run");
    const auto options = std::make_shared<DoneOptions>();
    command.option("RMID", options->rm, "the RM, default the only one");
    command.option("--id", options->id, "name of the recovery, as in rm register --recovery").value("ID").required();
    command.option("--attempt", options->attempt, "one more than the time before, default 1");
    command.flag("--as-restored", options->as_restored, "claim what the daemon has restored, fetched from it");
    command.option("--nodes", options->nodes, "so many nodes exist, default 0");
    command.option("--applications", options->applications, "so many applications, default 0");
    command.option("--allocations", options->allocations, "so many allocations, default 0");
    command.option("--asks", options->asks, "so many asks, default: they are not compared");
    command.option("--digest-nodes", options->digest_nodes, "sum of the hashes of the nodes").value("X");
    command.option("--digest-applications", options->digest_applications, "sum of those of the applications")
        .value("X");
    command.option("--digest-allocations", options->digest_allocations, "sum of those of the allocations").value("X");
    command.run([&context, options] { return send_done(context, *options); });
}

void define_list(Command recovery, Context& context) {
    const auto command = recovery.sub("list", "what was restored, with the hash of each object").alias("ls");
    const auto options = std::make_shared<ListOptions>();
    std::vector<std::string> kinds;
    kinds.reserve(std::size(kClaimedKinds));
    for (const auto& kind : kClaimedKinds) kinds.emplace_back(kind.name);
    command.option("KIND", options->kind, "kind of object").required().choices(kinds);
    command.option("RMID", options->rm, "the RM, default the only one");
    command.option("--bucket", options->bucket, "only those of this bucket, 0 to 255");
    define_watch(command, options->watch);
    command.run([&context, options] { return show_restored(context, *options); });
}

void define_resolve(Command recovery, Context& context) {
    const auto command = recovery.sub("resolve", "a recovery that failed: go on, begin anew, accept it, give up");
    const auto options = std::make_shared<ResolveOptions>();
    command.option("ACTION", options->action, "what is to become of it").required().choices(kActions);
    command.option("RMID", options->rm, "the RM, default the only one");
    command.run([&context, options] { return resolve(context, *options); });
}

} // namespace

void define_recovery(Command root, Context& context) {
    const auto recovery = root.sub("recovery", "after a restart: compare what an RM reported, end its recovery");
    define_done(recovery, context);
    define_list(recovery, context);
    define_resolve(recovery, context);
}

} // namespace yk::cli
