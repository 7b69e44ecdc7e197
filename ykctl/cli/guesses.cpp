// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/guesses.h"

#include <algorithm>
#include <array>
#include <utility>

namespace yk::cli {

namespace {

struct Verb {
    std::string_view word;
    std::vector<std::string> meanings;
};

struct Hint {
    std::string_view word;
    std::string_view hint;
};

constexpr std::string_view kQueues = "queues live in the configuration: ykctl config edit, or a file of yours and  "
                                     "ykctl config diff FILE, ykctl config reload -f FILE";
constexpr std::string_view kAddress = "the daemon's address:  -s URL, or YKCTL_SOCKET";

constexpr std::string_view kDevices =
    "each device stands in  ykctl node show NAME; what is idle and of no use in  ykctl cluster fragmentation";

constexpr std::array kCommands{
    Hint{"get", "the noun comes first:  ykctl node list, ykctl app show ID"},
    Hint{"describe", "the noun comes first:  ykctl node show NAME, ykctl explain node NAME"},
    Hint{"create", "the noun comes first:  ykctl node add, ykctl app add, ykctl deployment create"},
    Hint{"scale", "ykctl deployment scale NAME N"},
    Hint{"autoscale", "ykctl deployment scale NAME N"},
    Hint{"show", "the noun comes first:  ykctl node show NAME"},
    Hint{"list", "the noun comes first:  ykctl node list"},
    Hint{"add", "the noun comes first:  ykctl node add NAME"},
    Hint{"remove", "the noun comes first:  ykctl node remove NAME"},
    Hint{"edit", "a configuration?  ykctl config edit"},
    Hint{"drain", "ykctl node drain NAME"},
    Hint{"cordon", "ykctl node drain NAME: nothing new is placed there, what runs stays"},
    Hint{"uncordon", "ykctl node undrain NAME"},
    Hint{"resume", "ykctl node undrain NAME"},
    Hint{"reload", "ykctl config reload"},
    Hint{"reconfigure", "ykctl config reload"},
    Hint{"rollout", "back to a former configuration?  ykctl config history, ykctl config rollback"},
    Hint{"rollback", "ykctl config rollback"},
    Hint{"validate", "ykctl config check FILE"},
    Hint{"job", "jobs are applications here:  ykctl app list, ykctl app show ID"},
    Hint{"jobs", "jobs are applications here:  ykctl app list"},
    Hint{"pod", "pods are asks and allocations here:  ykctl ask list, ykctl alloc list"},
    Hint{"pods", "pods are asks and allocations here:  ykctl ask list, ykctl alloc list"},
    Hint{"task", "tasks are asks and allocations here:  ykctl ask list, ykctl alloc list"},
    Hint{"endpoint", "is it well?  ykctl health, ykctl ping"},
    Hint{"fragmentation", "how much of what is idle is of use to nobody?  ykctl cluster fragmentation"},
    Hint{"gpu", kDevices},
    Hint{"gpus", kDevices},
    Hint{"device", kDevices},
    Hint{"devices", kDevices},
    Hint{"sinfo", "ykctl node list, ykctl queue list, ykctl status"},
    Hint{"squeue", "ykctl app list, ykctl ask list"},
    Hint{"scontrol", "the noun comes first:  ykctl node show NAME, ykctl app show ID"},
    Hint{"scancel", "ykctl app remove ID, ykctl ask remove KEY"},
    Hint{"sbatch", "ykctl app add ID -q QUEUE, ykctl ask add ID -R memory=4Gi,vcore=1"},
    Hint{"recover", "ykctl rm register RMID --recovery ID, report what it has, then  ykctl recovery done"},
    Hint{"restore", "ykctl rm register RMID --recovery ID, report what it has, then  ykctl recovery done"},
    Hint{"info", "ykctl status, ykctl version"},
    Hint{"cluster-info", "ykctl status"},
    Hint{"api-resources", "the nouns stand in  ykctl --help"},
    Hint{"stats", "ykctl metrics, ykctl status"},
    Hint{"logs", "what happened?  ykctl events      what an RM was told?  ykctl rm log"},
    Hint{"auth", "ykctl whoami, ykctl can-i node drain"},
    Hint{"can", "ykctl can-i node drain"},
};

struct Deed {
    std::string_view noun, word, hint;
};

constexpr std::array kDeeds{
    Deed{"queue", "add", kQueues},
    Deed{"queue", "create", kQueues},
    Deed{"queue", "set", kQueues},
    Deed{"queue", "update", kQueues},
    Deed{"queue", "edit", kQueues},
    Deed{"queue", "remove", kQueues},
    Deed{"queue", "delete", kQueues},
    Deed{"config", "set", "ykctl config edit"},
    Deed{"config", "get-contexts", "ykctl context list"},
    Deed{"config", "use-context", "ykctl context use NAME"},
    Deed{"node", "devices", kDevices},
    Deed{"node", "top", "ykctl top, then 2"},
    Deed{"rm", "add", "ykctl rm register RMID"},
    Deed{"rm", "start", "ykctl rm serve RMID"},
    Deed{"log", "show", "what happened?  ykctl events      what the log says is in the journal:  journalctl -u ykd"},
};

constexpr std::array kOptions{
    Hint{"--cpu", "sizes are given together:  -R memory=4Gi,vcore=1"},
    Hint{"--cpus", "sizes are given together:  -R memory=4Gi,vcore=1"},
    Hint{"--mem", "sizes are given together:  -R memory=4Gi,vcore=1"},
    Hint{"--memory", "sizes are given together:  -R memory=4Gi,vcore=1"},
    Hint{"--gpu", "sizes are given together:  -R memory=4Gi,vcore=1,gpu=1"},
    Hint{"--server", kAddress},
    Hint{"--address", kAddress},
    Hint{"--endpoint", kAddress},
    Hint{"--endpoints", kAddress},
    Hint{"--host", kAddress},
    Hint{"--namespace", "a namespace is a tag of an application here, and may name its queue:  --tag namespace=NAME"},
    Hint{"-w", "again and again?  --watch"},
    Hint{"-l", "-l picks nodes by attributes, and asks, allocations and deployments by tags, in their lists"},
    Hint{"--selector", "-l picks nodes by attributes, and asks, allocations and deployments by tags, in their lists"},
    Hint{"--field-selector", "lists take names with * and ?, --state and -l; -o json and jq pick by all else"},
};

template <class Table>
std::string_view find(const Table& table, std::string_view word) {
    const auto* const found =
        std::find_if(table.begin(), table.end(), [&](const Hint& hint) { return hint.word == word; });
    return found == table.end() ? std::string_view{} : found->hint;
}

} // namespace

const std::vector<std::string>& meanings_of(std::string_view verb) {
    static const std::vector<Verb> kVerbs{
        {"get", {"show", "list"}},
        {"describe", {"show"}},
        {"view", {"show"}},
        {"info", {"show"}},
        {"inspect", {"show"}},
        {"show", {"show", "list"}},
        {"list", {"list"}},
        {"ls", {"list"}},
        {"create", {"add", "register"}},
        {"new", {"add", "register"}},
        {"add", {"add", "register"}},
        {"submit", {"add"}},
        {"delete", {"remove", "release", "deregister"}},
        {"remove", {"remove", "release", "deregister"}},
        {"rm", {"remove", "release", "deregister"}},
        {"cancel", {"remove"}},
        {"kill", {"remove", "release"}},
        {"unregister", {"deregister"}},
        {"drain", {"drain"}},
        {"cordon", {"drain"}},
        {"undrain", {"undrain"}},
        {"uncordon", {"undrain"}},
        {"resume", {"undrain"}},
        {"apply", {"reload"}},
        {"load", {"reload"}},
        {"update", {"update"}},
        {"test", {"check"}},
        {"register", {"register"}},
    };
    static const std::vector<std::string> kNone;
    const auto found = std::find_if(kVerbs.begin(), kVerbs.end(), [&](const Verb& each) { return each.word == verb; });
    return found == kVerbs.end() ? kNone : found->meanings;
}

std::string_view done_here(std::string_view word) {
    return find(kCommands, word);
}

std::string_view done_here(std::string_view noun, std::string_view word) {
    const auto* const found = std::find_if(kDeeds.begin(), kDeeds.end(),
                                           [&](const Deed& deed) { return deed.noun == noun && deed.word == word; });
    return found == kDeeds.end() ? std::string_view{} : found->hint;
}

std::string_view kind_here(std::string_view verb) {
    return verb == "explain" ? "of which kind is it?  ykctl explain ask KEY, ykctl explain app ID" : std::string_view{};
}

std::string argument_here(std::string_view path, std::string_view word) {
    const bool is_address = word.find('/') != std::string_view::npos;
    if (is_address && path.ends_with("context add")) return "an address?  -s " + std::string{word};
    if (path.ends_with("ask add")) return "a key?  " + std::string{path} + " APP --key " + std::string{word};
    if (path.ends_with("explain ask")) return "of an application?  " + std::string{path} + " KEY --app APP";
    return {};
}

std::string_view form_here(std::string_view error) {
    for (const std::string_view form : {"'jsonpath", "'go-template", "'custom-columns", "'template"})
        if (error.find(form) != std::string_view::npos)
            return "paths into the JSON are columns:  --columns name,.capacity.vcore      all else:  -o json and jq";
    return {};
}

std::string_view option_here(std::string_view option) {
    return find(kOptions, option);
}

} // namespace yk::cli
