// Checkpoints with a changed bit in the header, or cut off within it: refused, or a model that
// runs.
#include <cstdint>
#include <cstring>

#include "headroom/base/error.hpp"
#include "headroom/io/atomic_file.hpp"
#include "headroom/io/checksums.hpp"
#include "headroom/io/tensor_file.hpp"
#include "headroom_runs/records/attention_record.hpp"
#include "support/catch.hpp"
#include "support/small_saved_model.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using namespace headroom::test;

namespace {

/// The bytes of a checkpoint of a small model. Without checksums, a reader notices a change only by
/// what it means.
std::string checkpoint_bytes(ModelKind kind, bool checksums) {
  ModelConfig config;
  config.kind = kind;
  config.block = {.width = 4, .heads = 2, .hidden = 4};
  config.longest = 8;
  const SavedModel saved = small_saved_model(config);
  const TemporaryFolder folder;
  Checkpoint checkpoint;
  checkpoint.about = saved.about;
  checkpoint.add("model", *saved.model);
  checkpoint.save(folder / "a");
  if (!checksums) {
    TensorFile file = TensorFile::read(folder / "a");
    file.metadata.erase(checksums_key);
    file.write(folder / "a");
  }
  return read_file(folder / "a");
}

enum class Outcome { refused, runs };

/// Loads a model from these bytes and runs it once. Throws what is none of our errors.
Outcome load_and_run(const TemporaryFolder& folder, const std::string& bytes) {
  const std::filesystem::path path = folder.file("checkpoint", bytes);
  try {
    attention_record(load_model(path), {.input = "ab", .write = 2});
    return Outcome::runs;
  } catch (const Error&) {
    return Outcome::refused;
  }
}

/// Every `stride`-th prefix and bit of the headers of three checkpoints.
void break_headers(std::size_t stride) {
  const TemporaryFolder folder;
  for (const ModelKind kind :
       {ModelKind::seq2seq, ModelKind::language_model, ModelKind::classifier}) {
    for (const bool checksums : {false, true}) {
      INFO(name_of(kind) << (checksums ? " with checksums" : ""));
      std::string bytes = checkpoint_bytes(kind, checksums);
      std::uint64_t header = 0;
      std::memcpy(&header, bytes.data(), sizeof header);
      const std::size_t end = sizeof header + std::size_t(header);
      REQUIRE(load_and_run(folder, bytes) == Outcome::runs);
      for (std::size_t length = 0; length < end; length += stride) {
        INFO("the first " << length << " bytes");
        REQUIRE(load_and_run(folder, bytes.substr(0, length)) == Outcome::refused);
      }
      for (std::size_t bit = 0; bit < 8 * end; bit += stride) {
        INFO("bit " << bit % 8 << " of byte " << bit / 8);
        const char sound = bytes[bit / 8];
        bytes[bit / 8] = char(sound ^ (1 << bit % 8));
        const Outcome outcome = load_and_run(folder, bytes);
        // The spaces at the end mean nothing, and files without checksums are older ones.
        const bool checked = bytes.find(std::string("\"") + checksums_key) < end;
        if (checked && outcome == Outcome::runs) REQUIRE((!checksums || bit / 8 >= end - 8));
        bytes[bit / 8] = sound;
      }
    }
  }
}

}  // namespace

TEST_CASE("a changed bit in the header of a checkpoint is refused or harmless") {
  break_headers(61);
}

TEST_CASE("no bit and no prefix of a header breaks more than its file", "[long]") {
  break_headers(1);
}
