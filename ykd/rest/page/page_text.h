// SPDX-License-Identifier: Apache-2.0
#pragma once
// The text of ykd's own page, in its parts. Its source is made of the files of this folder when the build is configured
// (cmake/YkPage.cmake).

#include <span>
#include <string_view>

namespace yk::service {

extern const std::string_view kPageStart; // up to the style
extern const std::string_view kPageStyle;
extern const std::string_view kPageMiddle; // from the style to the scripts
extern const std::span<const std::string_view> kPageScripts;
extern const std::string_view kPageEnd;

} // namespace yk::service
