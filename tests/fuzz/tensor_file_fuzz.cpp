// Any bytes as a checkpoint: refused, or read, written and read again without a difference.
#include "headroom/io/tensor_file.hpp"

#include "fuzz/fuzz.hpp"

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::filesystem::path path = file_of(std::string(data, data + size));
  TensorFile file;
  if (!reads([&] { file = TensorFile::read(path); })) return 0;
  for (const std::string& name : file.names()) {
    for (const Rounding rounding : {Rounding::refuse, Rounding::allow}) {
      reads([&] { file.array(name, rounding); });
    }
    reads([&] { file.ids(name); });
    reads([&] { file.bytes(name); });
    reads([&] { file.integers(name); });
    reads([&] { file.doubles(name); });
  }
  file.write(path);
  const TensorFile again = TensorFile::read(path);
  must(again.names() == file.names() && again.metadata == file.metadata);
  for (const std::string& name : file.names()) {
    const StoredTensor &before = file.tensor(name), &after = again.tensor(name);
    must(before.type == after.type && before.shape == after.shape && before.bytes == after.bytes);
  }
  return 0;
}
