// TensorFile: what goes in comes out, in both precisions, and nothing is rounded in silence.
#include "headroom/io/tensor_file.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/half.hpp"
#include "headroom/io/atomic_file.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;

namespace {

template <class T>
StoredTensor stored(StoredType type, const Shape& shape, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {type, shape, {bytes.begin(), bytes.end()}};
}

template <class T>
bool same_bits(const ArrayOf<T>& a, const ArrayOf<T>& b) {
  return a.shape() == b.shape() &&
         (a.empty() ||
          std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
}

}  // namespace

TEST_CASE("arrays, ids, bytes, integers and texts come back to the bit") {
  const TemporaryFolder folder;
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const Array weight(Shape{2, 3}, {Real(0.1), Real(-0.0), infinity, -infinity,
                                   std::numeric_limits<Real>::denorm_min(), Real(-3e30)});
  const Ids ids(Shape{3}, {-1, 0, std::numeric_limits<std::int32_t>::max()});
  const Bytes mask(Shape{1, 3}, {0, 1, 255});
  const std::vector<std::int64_t> integers{std::numeric_limits<std::int64_t>::min(), -1,
                                           std::numeric_limits<std::int64_t>::max()};
  TensorFile file;
  file.put("mask", mask);
  file.put("layer.0.\"weight\"\n\xC3\xA9", weight);
  file.put("ids", ids);
  file.put("integers", integers);
  file.put("scalar", Array(Shape{}, Real(7)));
  file.put("empty", Array(Shape{0, 5}));
  file.put("six axes", Array(Shape{1, 2, 1, 2, 1, 2}, Real(1)));
  file.metadata["config"] = "{\"text\": \"two\\nlines\"}\n\t\xE2\x82\xAC";
  file.metadata[""] = "";
  file.write(folder / "model.safetensors");

  const TensorFile read = TensorFile::read(folder / "model.safetensors");
  CHECK(read.names() == file.names());
  CHECK(read.metadata == file.metadata);
  CHECK(same_bits(read.array("layer.0.\"weight\"\n\xC3\xA9"), weight));
  CHECK(same_bits(read.ids("ids"), ids));
  CHECK(same_bits(read.bytes("mask"), mask));
  CHECK(read.integers("integers") == integers);
  CHECK(read.array("scalar").shape() == Shape{});
  CHECK(read.array("scalar")[0] == Real(7));
  CHECK(read.array("empty").shape() == Shape{0, 5});
  CHECK(read.array("six axes").shape() == Shape{1, 2, 1, 2, 1, 2});
  CHECK(read.origin() == (folder / "model.safetensors").string());
}

TEST_CASE("an empty file of tensors comes back, and one with texts only") {
  const TemporaryFolder folder;
  TensorFile file;
  file.write(folder / "empty.safetensors");
  CHECK(TensorFile::read(folder / "empty.safetensors").names().empty());
  file.metadata["step"] = "3";
  file.write(folder / "empty.safetensors");
  CHECK(TensorFile::read(folder / "empty.safetensors").metadata.at("step") == "3");
}

TEST_CASE("the bytes on disk are those of the published format") {
  const TemporaryFolder folder;
  TensorFile file;
  file.put("a", Bytes(Shape{3}, {1, 2, 3}));
  file.put("b", stored<float>(StoredType::f32, {1, 1}, {1.0F}));
  file.metadata["k"] = "v";
  file.write(folder / "x");
  const std::string header =
      R"({"__metadata__":{"k":"v"},"b":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},)"
      R"("a":{"dtype":"U8","shape":[3],"data_offsets":[4,7]}})";
  const std::string padded = header + std::string((8 - header.size() % 8) % 8, ' ');
  std::string expected(1, static_cast<char>(padded.size()));
  expected += std::string(7, '\0') + padded;
  expected += std::string("\x00\x00\x80\x3F\x01\x02\x03", 7);
  CHECK(read_file(folder / "x") == expected);
}

TEST_CASE("the header is padded to the next multiple of eight and no further") {
  const TemporaryFolder folder;
  TensorFile file;
  std::set<std::size_t> unpadded;  // lengths modulo eight
  for (int i = 0; i < 8; ++i) {
    file.metadata["k"] += "v";
    file.write(folder / "x");
    const std::string content = read_file(folder / "x");
    const std::size_t length = content.find_last_not_of(' ') + 1 - 8;
    CHECK(content.size() - 8 == (length + 7) / 8 * 8);
    unpadded.insert(length % 8);
  }
  CHECK(unpadded.size() == 8);
}

TEST_CASE("numbers convert between precisions only without loss, unless rounding is allowed") {
  const TemporaryFolder folder;
  TensorFile file;
  file.put("exact", stored<double>(StoredType::f64, {3}, {0.5, -0.0, double(1e30F)}));
  file.put("tenth", stored<double>(StoredType::f64, {2}, {1.0, 0.1}));
  file.put("huge", stored<double>(StoredType::f64, {1}, {1e300}));
  file.put("special", stored<double>(StoredType::f64, {2}, {std::nan(""), -HUGE_VAL}));
  file.put("single", stored<float>(StoredType::f32, {1}, {0.1F}));
  file.write(folder / "mixed");
  const TensorFile read = TensorFile::read(folder / "mixed");

  CHECK(read.array("exact")[0] == Real(0.5));
  CHECK(std::signbit(read.array("exact")[1]));
  CHECK(read.array("single")[0] == Real(0.1F));
  CHECK(std::isnan(read.array("special")[0]));
  CHECK(read.array("special")[1] == -std::numeric_limits<Real>::infinity());
  CHECK(read.doubles("tenth") == std::vector<double>{1.0, 0.1});
  CHECK(read.array("tenth", Rounding::allow)[1] == Real(0.1));
  if (is_double) {
    CHECK(read.array("tenth")[1] == Real(0.1));
    CHECK(read.array("huge")[0] == Real(read.doubles("huge")[0]));
  } else {
    CHECK_THROWS_WITH(read.array("tenth"),
                      Contains("tensor \"tenth\": 0.1 at element 1 does not fit into a float"));
    CHECK_THROWS_WITH(read.array("huge", Rounding::allow), Contains("does not fit into a float"));
  }
}

TEST_CASE("a tensor that is missing or of another kind is refused by file and name") {
  TensorFile file;
  file.put("w", Array(Shape{1}, Real(1)));
  file.put("big", std::vector<std::int64_t>{0, std::int64_t{1} << 40});
  CHECK_THROWS_WITH(file.array("v"), "new file: tensor \"v\": is missing");
  CHECK_THROWS_WITH(file.bytes("w"), Contains("tensor \"w\": is F") && Contains("not U8"));
  CHECK_THROWS_WITH(file.ids("w"), Contains("not I64 or I32"));
  CHECK_THROWS_WITH(file.array("big"), Contains("is I64, not F64, F32, F16 or BF16"));
  CHECK_THROWS_WITH(file.ids("big"),
                    "new file: tensor \"big\": 1099511627776 at element 1 does not "
                    "fit into 32 bits");
  CHECK_THROWS_AS(file.array("v"), FileError);
}

TEST_CASE("what the format cannot hold is refused before anything is written") {
  const TemporaryFolder folder;
  TensorFile file;
  file.put("w", Array(Shape{1}, Real(1)));
  CHECK_THROWS_WITH(file.put("w", Bytes(Shape{1})), Contains("\"w\" exists already"));
  CHECK_THROWS_AS(file.put("__metadata__", Bytes(Shape{1})), UsageError);
  CHECK_THROWS_WITH(file.put("\xFF", Bytes(Shape{1})), Contains("not valid UTF-8"));
  CHECK_THROWS_WITH(file.put("v", StoredTensor{StoredType::f64, {2}, std::vector<std::byte>(8)}),
                    "checkpoint: tensor \"v\" F64 [2] cannot have 8 bytes");
  TensorFile many;
  for (int i = 0; i < 65'537; ++i) many.put(std::to_string(i), Bytes(Shape{0}));
  CHECK_THROWS_WITH(many.write(folder / "x"), Contains("cannot write: 65537 tensors"));
  file.metadata["bad"] = "\xFF";
  CHECK_THROWS_WITH(file.write(folder / "x"), Contains("not valid UTF-8"));
  CHECK_FALSE(std::filesystem::exists(folder / "x"));
}

TEST_CASE("a reader gives each tensor when it is asked for") {
  const TemporaryFolder folder;
  TensorFile file;
  Array large(Shape{700, 1000});
  for (Index i = 0; i < large.size(); ++i) large[i] = Real(float(i % 1013) / 8);
  file.put("large", large);
  StoredTensor other{is_double ? StoredType::f32 : StoredType::f64, large.shape(), {}};
  other.bytes.resize(std::size_t(large.size()) * std::size_t(size_of(other.type)));
  write_numbers(other.type, large.span(), other.bytes);
  file.put("other precision", other);
  file.put("ids", Ids(Shape{2}, 3));
  file.metadata["format"] = "pt";
  file.write(folder / "model.safetensors");

  const TensorReader reader(folder / "model.safetensors");
  CHECK(reader.entries().size() == 3);
  CHECK(reader.metadata() == file.metadata);
  CHECK(reader.find("nothing") == nullptr);
  REQUIRE(reader.find("large") != nullptr);
  CHECK(same_bits(reader.array(*reader.find("large")), large));
  CHECK(same_bits(reader.array(*reader.find("other precision")), large));  // in several pieces
  CHECK(reader.read(*reader.find("ids")).bytes == file.tensor("ids").bytes);
  CHECK_THROWS_WITH(reader.array(*reader.find("ids")), Contains("is I32, not F64, F32, F16"));
  std::filesystem::resize_file(folder / "model.safetensors", 1000);
  CHECK_THROWS_AS(reader.read(*reader.find("large")), FileError);
}

TEST_CASE("half precision is read exactly and written to the nearest") {
  const std::vector<Real> numbers{0, 1, Real(-2.5), Real(65504), Real(0.333251953125)};
  for (const StoredType type : {StoredType::f16, StoredType::bf16}) {
    std::vector<std::byte> bytes(numbers.size() * 2);
    write_numbers(type, numbers, bytes);
    std::vector<Real> read(numbers.size());
    CHECK_FALSE(read_numbers(type, bytes, std::span(read), Rounding::refuse));
    for (std::size_t i = 0; i < 3; ++i) CHECK(read[i] == numbers[i]);
    CHECK(read[3] == Real(type == StoredType::f16 ? 65504 : 65536));  // bfloat16 has 8 bits
    CHECK(read[4] == Real(type == StoredType::f16 ? 0.333251953125 : 0.333984375));
  }
  CHECK(bfloat_bits(1) == 0x3F80);
  CHECK(bfloat_bits(1 + 1.0 / 256) == 0x3F80);  // a tie, to even
  CHECK(bfloat_bits(1 + 3.0 / 256) == 0x3F82);
  CHECK(bfloat_number(0xC020) == -2.5);
  CHECK(std::isnan(bfloat_number(bfloat_bits(std::nan("")))));
  CHECK(std::isinf(bfloat_number(bfloat_bits(1e39))));
}
