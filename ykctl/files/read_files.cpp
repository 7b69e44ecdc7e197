// SPDX-License-Identifier: Apache-2.0
#include "ykctl/files/read_files.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "ykctl/cli/values.h"

namespace yk::cli {

Answer<std::vector<NamedText>> read_files(const std::string& path, std::istream& standard_input) {
    namespace fs = std::filesystem;
    std::vector<std::string> paths{path};
    std::error_code fault;
    if (path != "-" && fs::is_directory(path, fault)) {
        static const std::set<std::string> kEndings{".yaml", ".yml", ".json", ".jsonl"};
        paths.clear();
        for (fs::directory_iterator entry(path, fault), end; !fault && entry != end; entry.increment(fault))
            if (kEndings.count(entry->path().extension().string()) != 0) paths.push_back(entry->path().string());
        if (fault) return usage_error(path + ": cannot be read: " + fault.message());
        if (paths.empty()) return usage_error(path + ": holds no *.yaml, *.yml, *.json or *.jsonl");
        std::sort(paths.begin(), paths.end());
    }
    std::vector<NamedText> files;
    for (const auto& one : paths) {
        YK_TRY(text, read_text(one, standard_input));
        files.push_back({shown_name(one), std::move(text)});
    }
    return files;
}

} // namespace yk::cli
