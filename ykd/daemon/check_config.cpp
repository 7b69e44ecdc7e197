// SPDX-License-Identifier: Apache-2.0
#include "ykd/daemon/check_config.h"

#include <iostream>

#include "libcore/config_yaml/load.h"
#include "ykd/configuration/config_files.h"

namespace yk::service {

int check_config(const std::vector<std::string>& files) {
    constexpr int kRefused = 78;
    int code = 0;
    for (const std::string& file : files) {
        const auto text = read_config_file(file);
        if (!text.ok()) {
            std::cerr << "ykd: " << text.error().message << "\n";
            code = kRefused;
            continue;
        }
        const auto outcome = config_yaml::load_file(*text, file);
        std::cerr << config_yaml::render(outcome, *text);
        if (!outcome.configuration) {
            code = kRefused;
        } else {
            std::cout << file << ": ok\n";
        }
    }
    return code;
}

} // namespace yk::service
