// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/plain_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace yk::sim {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> text_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>{in}, {}};
}

void put_back(const std::string& path, const std::optional<std::string>& text) {
    if (text)
        std::ofstream(path, std::ios::binary | std::ios::trunc) << *text;
    else
        fs::remove(path);
}

} // namespace

void PlainFiles::forget() {
    renamed_.clear();
    unsynced_.clear();
}

void PlainFiles::remember(const std::string& path) {
    renamed_.push_back({path, text_of(path)});
}

void PlainFiles::note(FileStep step, const std::string& path, const std::string& to) {
    switch (step) {
    case FileStep::Read: return;
    case FileStep::Write: unsynced_.insert(path); return;
    case FileStep::Sync: unsynced_.erase(path); return;
    case FileStep::Rename:
        remember(to);
        if (unsynced_.erase(path) != 0)
            unsynced_.insert(to);
        else
            unsynced_.erase(to);
        return;
    case FileStep::Remove:
        if (!fs::exists(path)) return; // that is no change, and what comes there later is not to go with it
        remember(path);
        unsynced_.erase(path);
        return;
    case FileStep::SyncFolder:
        renamed_.erase(std::remove_if(renamed_.begin(), renamed_.end(),
                                      [&](const Renamed& one) { return fs::path(one.path).parent_path() == path; }),
                       renamed_.end());
        return;
    }
}

bool PlainFiles::lose_unsynced(World& world) {
    const auto renamed = std::exchange(renamed_, {});
    const auto unsynced = std::exchange(unsynced_, {});
    const std::size_t kept = world.choose(renamed.size() + 1);
    for (std::size_t i = renamed.size(); i > kept; --i) put_back(renamed[i - 1].path, renamed[i - 1].before);
    for (const std::string& path : unsynced) {
        std::error_code gone;
        const auto size = fs::file_size(path, gone);
        if (!gone) fs::resize_file(path, world.choose(size + 1));
    }
    return kept < renamed.size() || !unsynced.empty();
}

} // namespace yk::sim
