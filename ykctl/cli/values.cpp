// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/values.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <set>

#include <fmt/format.h>

#include "libcore/config/duration.h"
#include "libcore/config/quantity.h"

namespace yk::cli {
namespace {

constexpr std::int64_t kMaxNumberWidth = 18;
constexpr std::int64_t kMostDevices = 64; // of a resource on a node (F-001)

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    while (true) {
        const auto end = text.find(separator, start);
        parts.push_back(text.substr(start, end - start));
        if (end == std::string::npos) return parts;
        start = end + 1;
    }
}

/// Where the `%d` of a name format stands, how long it is, and the width that it asks for.
struct NumberField {
    std::size_t at = 0;
    std::size_t length = 0;
    std::int64_t width = 0;
};

std::optional<NumberField> find_number_field(const std::string& pattern) {
    const auto at = pattern.find('%');
    if (at == std::string::npos) return std::nullopt;
    auto end = at + 1;
    while (end < pattern.size() && std::isdigit(static_cast<unsigned char>(pattern[end])) != 0) ++end;
    if (end >= pattern.size() || pattern[end] != 'd' || pattern.find('%', end) != std::string::npos)
        return std::nullopt;
    std::int64_t width = 0;
    if (end > at + 1) {
        const auto* last = pattern.data() + end;
        if (pattern[at + 1] != '0' || std::from_chars(pattern.data() + at + 1, last, width).ec != std::errc{} ||
            width > kMaxNumberWidth) {
            return std::nullopt;
        }
    }
    return NumberField{at, end + 1 - at, width};
}

Answer<std::string> read_stream(std::istream& in, const std::string& name, std::size_t limit) {
    std::string text;
    char block[1U << 16U];
    while (in.read(block, sizeof block) || in.gcount() > 0) {
        text.append(block, static_cast<std::size_t>(in.gcount()));
        if (text.size() > limit) return usage_error(fmt::format("{}: more than {} bytes", name, limit));
    }
    if (in.bad()) return usage_error(name + ": cannot be read: " + std::strerror(errno));
    return text;
}

template <class Pairs>
bool has_key(const Pairs& pairs, const std::string& key) {
    return std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == key; });
}

} // namespace

Result<std::int64_t> parse_integer(const std::string& text) {
    std::int64_t value = 0;
    const auto* end = text.data() + text.size();
    const auto [stopped, problem] = std::from_chars(text.data(), end, value);
    if (text.empty() || stopped != end || problem == std::errc::invalid_argument) {
        return Error::of("'" + text + "' is not a whole number");
    }
    if (problem != std::errc{}) return Error::of("'" + text + "' is too large");
    return value;
}

Result<std::chrono::milliseconds> parse_milliseconds(const std::string& text) {
    YK_TRY(duration, config::parse_duration(text));
    if (duration < Duration::zero()) return Error::of("'" + text + "' is negative");
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration);
}

Answer<si::Resources> parse_resources(const std::vector<std::string>& texts) {
    si::Resources resource;
    for (const auto& text : texts) {
        for (const auto& entry : split(text, ',')) {
            const auto equals = entry.find('=');
            if (equals == std::string::npos || equals == 0) {
                return usage_error("-R: '" + entry + "' is not NAME=QUANTITY",
                                   {"for example  -R memory=64Gi,vcore=16"});
            }
            const auto name = entry.substr(0, equals);
            if (has_key(resource, name)) return usage_error("-R: '" + name + "' is given twice");
            const auto amount = config::parse_quantity(name, entry.substr(equals + 1));
            if (!amount.ok()) {
                return usage_error("-R: " + name + ": " + amount.error().message, {"more:  ykctl help quantities"});
            }
            resource.emplace_back(name, *amount);
        }
    }
    return resource;
}

namespace {

/// So many devices and the size of each.
struct DeviceGroup {
    std::int64_t count = 0, size = 0;
};

/// How --devices is written, of nodes and of asks.
struct DeviceForm {
    const char* groups;
    const char* example;
};
constexpr DeviceForm kOfNode{"COUNTxSIZE", "8x1000"}, kOfAsk{"COUNTxAMOUNT", "2x500"};

/// `8x1000`.
Answer<DeviceGroup> parse_device_group(const DeviceForm& form, const std::string& name, const std::string& text) {
    const auto by = text.find('x');
    const auto count = parse_integer(text.substr(0, by));
    const auto size = parse_integer(by == std::string::npos ? std::string{} : text.substr(by + 1));
    if (by == std::string::npos || !count.ok() || !size.ok() || *count < 1 || *size < 1)
        return usage_error(fmt::format("--devices: {}: '{}' is not {}", name, text, form.groups),
                           {fmt::format("for example  --devices {}={}", name, form.example)});
    if (*count > kMostDevices)
        return usage_error(
            fmt::format("--devices: {}: {} devices; at most {} are allowed", name, *count, kMostDevices));
    return DeviceGroup{*count, *size};
}

/// f(name, groups) for each `NAME=GROUPS` of lists with commas, until it returns a failure.
template <class F>
std::optional<Failure> for_each_device_entry(const DeviceForm& form, const std::vector<std::string>& texts, F&& f) {
    std::set<std::string> names;
    for (const auto& text : texts) {
        for (const auto& entry : split(text, ',')) {
            const auto equals = entry.find('=');
            if (equals == std::string::npos || equals == 0)
                return usage_error(fmt::format("--devices: '{}' is not NAME={}", entry, form.groups),
                                   {fmt::format("for example  --devices nvidia.com/gpu={}", form.example)});
            const auto name = entry.substr(0, equals);
            if (!names.insert(name).second) return usage_error("--devices: '" + name + "' is given twice");
            if (auto failure = f(name, split(entry.substr(equals + 1), '+'))) return failure;
        }
    }
    return std::nullopt;
}

} // namespace

Answer<si::DeviceSizes> parse_device_sizes(const std::vector<std::string>& texts) {
    si::DeviceSizes devices;
    const auto add = [&](const std::string& name, const std::vector<std::string>& groups) -> std::optional<Failure> {
        auto& sizes = devices.emplace_back(name, std::vector<std::int64_t>{}).second;
        for (const auto& text : groups) {
            const auto group = parse_device_group(kOfNode, name, text);
            if (!group.ok()) return group.error();
            sizes.insert(sizes.end(), static_cast<std::size_t>(group->count), group->size);
        }
        if (sizes.size() <= kMostDevices) return std::nullopt;
        return usage_error(
            fmt::format("--devices: {}: {} devices; at most {} are allowed", name, sizes.size(), kMostDevices));
    };
    if (auto failure = for_each_device_entry(kOfNode, texts, add)) return *std::move(failure);
    return devices;
}

Answer<si::DevicesMap> parse_devices(const std::vector<std::string>& texts) {
    si::DevicesMap devices;
    const auto add = [&](const std::string& name, const std::vector<std::string>& groups) -> std::optional<Failure> {
        if (groups.size() > 1)
            return usage_error("--devices: " + name + ": an ask wants the same of each device: COUNTxAMOUNT");
        const auto group = parse_device_group(kOfAsk, name, groups.front());
        if (!group.ok()) return group.error();
        devices.emplace_back(name, si::Devices{static_cast<std::uint32_t>(group->count), group->size, {}});
        return std::nullopt;
    };
    if (auto failure = for_each_device_entry(kOfAsk, texts, add)) return *std::move(failure);
    return devices;
}

Answer<si::StringMap> parse_pairs(const std::vector<std::string>& texts, const std::string& option) {
    si::StringMap pairs;
    for (const auto& text : texts) {
        const auto equals = text.find('=');
        if (equals == std::string::npos || equals == 0) {
            return usage_error(option + ": '" + text + "' is not KEY=VALUE");
        }
        const auto key = text.substr(0, equals);
        if (has_key(pairs, key)) return usage_error(option + ": '" + key + "' is given twice");
        pairs.emplace_back(key, text.substr(equals + 1));
    }
    return pairs;
}

void put_pair(si::StringMap& pairs, const std::string& key, std::string value) {
    const auto known = std::find_if(pairs.begin(), pairs.end(), [&](const auto& pair) { return pair.first == key; });
    if (known == pairs.end())
        pairs.emplace_back(key, std::move(value));
    else
        known->second = std::move(value);
}

std::vector<std::string> distinct(std::vector<std::string> names) {
    std::set<std::string> seen;
    std::erase_if(names, [&seen](const std::string& name) { return !seen.insert(name).second; });
    return names;
}

std::vector<std::string> split_lists(const std::vector<std::string>& texts) {
    std::vector<std::string> names;
    for (const auto& text : texts) {
        for (auto& name : split(text, ',')) {
            if (!name.empty()) names.push_back(std::move(name));
        }
    }
    return names;
}

std::string login_name() {
    const auto* entry = ::getpwuid(::geteuid());
    return entry != nullptr ? entry->pw_name : std::to_string(::geteuid());
}

si::UserGroupInformation parse_user(const std::string& text) {
    const auto colon = text.rfind(':');
    si::UserGroupInformation user{text.substr(0, colon), {}};
    if (colon != std::string::npos) user.groups = split_lists({text.substr(colon + 1)});
    return user;
}

Answer<std::string> read_text(const std::string& path, std::istream& standard_input, std::size_t limit) {
    if (path == "-") return read_stream(standard_input, shown_name(path), limit);
    std::ifstream file{path, std::ios::binary};
    if (!file) return usage_error(path + ": cannot be opened: " + std::strerror(errno));
    if (file.peek() == std::ifstream::traits_type::eof() && file.bad()) {
        return usage_error(path + ": cannot be read: " + std::strerror(errno)); // it is a directory, for example
    }
    file.clear();
    return read_stream(file, path, limit);
}

std::optional<Failure> write_text(const std::string& path, const std::string& text) {
    return write_file(path, [&text](std::ostream& out) -> std::optional<Failure> {
        out << text;
        return std::nullopt;
    });
}

std::optional<Failure> write_file(const std::string& path, const WriteTo& write) {
    std::error_code unknown;
    const auto kind = std::filesystem::symlink_status(path, unknown).type();
    using Type = std::filesystem::file_type;
    const bool replaces =
        kind == Type::regular || kind == Type::not_found; // anything else, as /dev/stdout, is written to
    const std::string target = replaces ? path + ".new" : path;
    std::ofstream file{target, std::ios::binary | std::ios::trunc};
    auto failure = write(file);
    file.close();
    if (!failure && !file.fail() && (!replaces || std::rename(target.c_str(), path.c_str()) == 0)) return std::nullopt;
    const std::string why = std::strerror(errno);
    if (replaces) std::filesystem::remove(target, unknown);
    return failure ? failure : usage_error(path + ": cannot be written: " + why);
}

std::string shown_name(const std::string& path) {
    return path == "-" ? "standard input" : path;
}

std::string numbered_name(const std::string& pattern, std::int64_t number) {
    const auto field = find_number_field(pattern);
    if (!field) return pattern;
    return pattern.substr(0, field->at) + fmt::format("{:0{}}", number, field->width) +
           pattern.substr(field->at + field->length);
}

Answer<std::string> check_name_format(const std::string& pattern) {
    if (find_number_field(pattern)) return pattern;
    return usage_error("--name-format: '" + pattern + "' needs one %d or %0Nd for the number",
                       {"for example  --name-format n%04d"});
}

} // namespace yk::cli
