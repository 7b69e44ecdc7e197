#include "protocol/wire/value.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;
