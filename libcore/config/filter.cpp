#include "libcore/config/filter.h"

#include <re2/re2.h>

namespace yk::config {

FilterEntry classify_filter_entry(std::string_view entry, bool (*is_legal)(std::string_view)) {
    if (is_legal(entry)) return FilterEntry::Name;
    if (entry.find_first_of("^$*+?()[{}|") == std::string_view::npos) return FilterEntry::Invalid;
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMaxExpressionBytes);
    const RE2 expression{re2::StringPiece{entry.data(), entry.size()}, options};
    return expression.ok() ? FilterEntry::Expression : FilterEntry::Invalid;
}

} // namespace yk::config
