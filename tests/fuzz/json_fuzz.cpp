// Any text as JSON: refused, or kept by writing and reading it again.
#include "headroom/io/json.hpp"

#include "fuzz/fuzz.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Record record;
  if (!reads([&] { record = parse_json(std::string(data, data + size), "input"); })) return 0;
  must(parse_json(record.dump(), "again") == record);
  for (const char* key : {"steps", "rate", "causal", "task"}) {
    reads([&] { json_integer(record, key, "input"); });
    reads([&] { json_number(record, key, "input"); });
    reads([&] { json_text(record, key, "input"); });
  }
  return 0;
}
