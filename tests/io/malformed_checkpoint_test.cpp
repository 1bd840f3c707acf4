// Checkpoint files that are broken or hostile: each is refused in one line that names the file, the
// tensor and the rule.
#include <cstdint>
#include <cstring>

#include "headroom/base/error.hpp"
#include "headroom/io/tensor_file.hpp"
#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

using namespace headroom;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

std::string length_bytes(std::uint64_t length) {
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes;
}

// A file of this header and so many zero bytes of data.
std::string file_of(const std::string& header, std::size_t data = 0) {
  return length_bytes(header.size()) + header + std::string(data, '\0');
}

// One tensor "w" of this description.
std::string tensor(const std::string& fields, std::size_t data = 8) {
  return file_of("{\"w\":{" + fields + "}}", data);
}
std::string shaped(const std::string& shape, std::size_t data = 8) {
  return tensor("\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":[0,8]", data);
}
std::string placed(const std::string& offsets, std::size_t data = 8) {
  return tensor("\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" + offsets, data);
}
std::string typed(const std::string& dtype) {
  return tensor("\"dtype\":" + dtype + ",\"shape\":[2],\"data_offsets\":[0,8]");
}
// U8 tensors "a", "b", ... at these places.
std::string side_by_side(const std::vector<std::pair<int, int>>& places, std::size_t data) {
  std::string header = "{";
  char name = 'a';
  for (const auto& [begin, end] : places) {
    if (name != 'a') header += ",";
    header += std::string("\"") + name++ + "\":{\"dtype\":\"U8\",\"shape\":[" +
              std::to_string(end - begin) + "],\"data_offsets\":[" + std::to_string(begin) + "," +
              std::to_string(end) + "]}";
  }
  return file_of(header + "}", data);
}
std::string many_tensors(int count) {
  std::string header = "{";
  for (int i = 0; i < count; ++i) {
    header += (i == 0 ? "\"" : ",\"") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  }
  return file_of(header + "}");
}

struct Malformed {
  std::string content, words;
};

const std::string plain = "takes plain unsigned integers, got ";
const std::string good = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";

// By rule of the reader; every rule at least twice.
std::vector<Malformed> malformed_files() {
  return {
      // length of the header
      {"", "header: 0 bytes are too short"},
      {"1234567", "header: 7 bytes are too short"},
      {length_bytes(100'000'001) + "{}",
       "100000001 is above the limit of 100000000 bytes; is it a safetensors file?"},
      {length_bytes(~std::uint64_t{0}) + "{}", "18446744073709551615 is above the limit"},
      {length_bytes(3) + "{}", "header: its length 3 is beyond the end of the file of 10 bytes"},
      {length_bytes(100'000'000) + "{}", "its length 100000000 is beyond the end"},
      // first byte, last byte
      {file_of(""), "header: must start with {"},
      {file_of(" {}"), "header: must start with {"},
      {file_of("[]"), "header: must start with {"},
      {file_of("\xEF\xBB\xBF{}"), "header: must start with {"},
      {file_of("{}\n"), "header: must end with } and spaces"},
      {file_of("{} x "), "header: must end with } and spaces"},
      {file_of(std::string("{}\0", 3)), "header: must end with } and spaces"},
      // UTF-8
      {file_of("{\"\xFF\":{}}"), "header: byte 2 is not valid UTF-8"},
      {file_of("{\"w\xC0\xAF\":{}}"), "header: byte 3 is not valid UTF-8"},
      {file_of("{\"__metadata__\":{\"a\":\"\xED\xA0\x80\"}}"), "is not valid UTF-8"},
      {file_of("{} \xE2\x82"), "is not valid UTF-8"},
      // JSON
      {file_of("{\"w\"}"), "header: malformed JSON"},
      {file_of("{}}"), "header: malformed JSON"},
      {file_of("{\"w\":{}} {}"), "tensor \"w\": dtype is missing"},
      {file_of("{} {}"), "header: malformed JSON"},
      {file_of("{'w':{}}"), "header: malformed JSON"},
      {file_of("{\"w\\ud800\":{}}"), "header: malformed JSON"},
      {file_of("{\"w\n\":{}}"), "header: malformed JSON"},
      {shaped("[2,]"), "header: malformed JSON"},
      {shaped("[02]"), "header: malformed JSON"},
      {shaped("[+2]"), "header: malformed JSON"},
      {shaped("[0x2]"), "header: malformed JSON"},
      {shaped("[NaN]"), "header: malformed JSON"},
      {file_of("{\"a\":{\"dtype\":\"F32\"}"), "tensor \"a\": shape is missing"},
      {file_of("{/*}*/}"), "header: malformed JSON"},
      // duplicate keys
      {file_of("{\"w\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
               "\"w\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}"),
       "tensor \"w\": occurs twice"},
      {file_of("{\"w\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},"
               "\"\\u0077\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}"),
       "tensor \"w\": occurs twice"},
      {file_of("{\"__metadata__\":{\"a\":\"1\",\"a\":\"1\"}}"), "metadata \"a\" occurs twice"},
      {file_of("{\"__metadata__\":{\"a\":\"1\",\"b\":\"2\",\"\\u0061\":\"3\"}}"),
       "metadata \"a\" occurs twice"},
      {file_of("{\"__metadata__\":{},\"__metadata__\":{}}"), "\"__metadata__\": occurs twice"},
      {tensor(R"("dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8])"),
       "tensor \"w\": dtype occurs twice"},
      {tensor(R"("dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8])"),
       "tensor \"w\": shape occurs twice"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"data_offsets":[0,8])"),
       "tensor \"w\": data_offsets occurs twice"},
      // exactly dtype, shape, data_offsets
      {tensor(R"("shape":[2],"data_offsets":[0,8])"), "tensor \"w\": dtype is missing"},
      {tensor(R"("dtype":"F32","data_offsets":[0,8])"), "tensor \"w\": shape is missing"},
      {tensor(R"("dtype":"F32","shape":[2])"), "tensor \"w\": data_offsets is missing"},
      {tensor(""), "tensor \"w\": dtype is missing"},
      {tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8],"stride":[1])"),
       "tensor \"w\": has an unknown field \"stride\""},
      {tensor(R"("Dtype":"F32","shape":[2],"data_offsets":[0,8])"), "unknown field \"Dtype\""},
      // the kind of every value
      {file_of(R"({"w":1})"), "tensor \"w\": its description must be an object, got the number 1"},
      {file_of(R"({"w":[]})"), "tensor \"w\": its description must be an object, got a list"},
      {file_of(R"({"w":null})"), "description must be an object, got null"},
      {file_of(R"({"__metadata__":"x"})"), "must be an object, got the text \"x\""},
      {file_of(R"({"__metadata__":{"a":1}})"), "metadata \"a\" must be a text, got the number 1"},
      {file_of(R"({"__metadata__":{"a":{"b":"c"}}})"),
       "metadata \"a\" must be a text, got an object"},
      {file_of(R"({"__metadata__":{"a":["b"]}})"), "metadata \"a\" must be a text, got a list"},
      {typed("32"), "tensor \"w\": dtype must be a text, got the number 32"},
      {typed("[\"F32\"]"), "tensor \"w\": dtype must be a text, got a list"},
      {typed("{}"), "tensor \"w\": dtype must be a text, got an object"},
      {shaped("2"), "tensor \"w\": shape must be a list of numbers, got the number 2"},
      {shaped("\"2\""), "shape must be a list of numbers, got the text \"2\""},
      {placed("{\"0\":8}"), "data_offsets must be a list of numbers, got an object"},
      {placed("true"), "data_offsets must be a list of numbers, got a truth value"},
      // dtype
      {typed("\"F8_E4M3\""), "dtype \"F8_E4M3\" is not one of F64, F32, F16, BF16, I64, I32"},
      {typed("\"f32\""), "tensor \"w\": dtype \"f32\" is not one of"},
      {typed("\"\""), "tensor \"w\": dtype \"\" is not one of"},
      {typed("\"C64\""), "tensor \"w\": dtype \"C64\" is not one of"},
      // unsigned integers only
      {shaped("[2.0]"), "tensor \"w\": shape " + plain + "the number 2.0"},
      {shaped("[2e0]"), "tensor \"w\": shape " + plain + "the number 2e0"},
      {shaped("[-2]"), "tensor \"w\": shape " + plain + "a number with a sign"},
      {shaped("[-0,2]"), "tensor \"w\": shape " + plain + "a number with a sign"},
      {shaped("[\"2\"]"), "tensor \"w\": shape " + plain + "the text \"2\""},
      {shaped("[true,2]"), "tensor \"w\": shape " + plain + "a truth value"},
      {shaped("[null]"), "tensor \"w\": shape " + plain + "null"},
      {shaped("[[2]]"), "tensor \"w\": shape " + plain + "a list"},
      {shaped(std::string(100'000, '[') + std::string(100'000, ']')), plain + "a list"},
      {shaped("[{}]"), "tensor \"w\": shape " + plain + "an object"},
      {shaped("[18446744073709551616]"), plain + "the number 18446744073709551616"},
      {placed("[0,8.0]"), "tensor \"w\": data_offsets " + plain + "the number 8.0"},
      {placed("[0,0.8e1]"), "tensor \"w\": data_offsets " + plain + "the number 0.8e1"},
      {placed("[-0,8]"), "tensor \"w\": data_offsets " + plain + "a number with a sign"},
      {placed("[-8,0]"), "tensor \"w\": data_offsets " + plain + "a number with a sign"},
      // products and sizes
      {shaped("[9223372036854775808]"), "tensor \"w\": size 9223372036854775808 is too large"},
      {shaped("[18446744073709551615]"), "tensor \"w\": size 18446744073709551615 is too large"},
      {shaped("[4294967296,4294967296]"), "the size of shape [4294967296, 4294967296] overflows"},
      {shaped("[4611686018427387904]"), "the size of shape [4611686018427387904] overflows"},
      {shaped("[4611686018427387904,8,0]"), "overflows"},
      {shaped("[0,4611686018427387904,8]"), "overflows"},
      {shaped("[2305843009213693952,1,8]"), "overflows"},
      {shaped("[4294967296,2147483648,0]"), "overflows"},  // 2^63: one more than an Index holds
      // at most 6 axes and 65,536 tensors
      {shaped("[1,1,1,1,1,1,2]"), "tensor \"w\": has more than 6 axes"},
      {shaped("[0,0,0,0,0,0,0,0]"), "tensor \"w\": has more than 6 axes"},
      {many_tensors(65'537), "header: more than 65536 tensors"},
      {many_tensors(70'000), "header: more than 65536 tensors"},
      // data_offsets
      {placed("[]"), "tensor \"w\": data_offsets must be two numbers, got 0"},
      {placed("[8]"), "tensor \"w\": data_offsets must be two numbers, got 1"},
      {placed("[0,8,8]"), "tensor \"w\": data_offsets must be two numbers, got more"},
      {placed("[8,0]"), "tensor \"w\": data_offsets [8, 0] run backwards"},
      {placed("[18446744073709551608,0]"), "run backwards"},
      {placed("[0,8]", 7), "tensor \"w\": data_offsets [0, 8] reach beyond the 7 bytes of data"},
      {placed("[0,18446744073709551615]"), "reach beyond the 8 bytes of data"},
      {placed("[1000000,1000008]"), "reach beyond the 8 bytes of data"},
      {placed("[0,7]"), "F32 [2] takes 8 bytes but data_offsets [0, 7] hold 7"},
      {placed("[0,12]", 12), "F32 [2] takes 8 bytes but data_offsets [0, 12] hold 12"},
      {shaped("[]"), "F32 [] takes 4 bytes but data_offsets [0, 8] hold 8"},
      {shaped("[0]"), "F32 [0] takes 0 bytes but data_offsets [0, 8] hold 8"},
      // tiling: overlap, hole, rest
      {side_by_side({{0, 4}, {3, 8}}, 8), "tensor \"b\": overlaps the tensor before it"},
      {side_by_side({{0, 4}, {0, 4}}, 4), "tensor \"b\": overlaps the tensor before it"},
      {side_by_side({{0, 8}, {3, 3}}, 8), "tensor \"b\": overlaps the tensor before it"},
      {side_by_side({{4, 8}, {0, 5}}, 8),
       "tensor \"a\": overlaps the tensor before it: starts at "
       "byte 4, that one ends at 5"},
      {side_by_side({{0, 4}, {5, 8}}, 8), "tensor \"b\": a hole before it: bytes [4, 5)"},
      {side_by_side({{1, 4}}, 4), "tensor \"a\": a hole before it: bytes [0, 1)"},
      {side_by_side({{0, 4}, {6, 6}}, 6), "tensor \"b\": a hole before it: bytes [4, 6)"},
      {side_by_side({{0, 4}}, 5), "header: bytes [4, 5) after the last tensor \"a\" belong to no"},
      {file_of("{}", 1), "header: bytes [0, 1) after the last tensor belong to no tensor"},
      {file_of(good, 16), "header: bytes [8, 16) after the last tensor \"w\""},
      // names that want to break the message
      {file_of(R"({"a\nb\u0000\u001b[31m":1})"),
       "tensor \"a\\x0Ab\\x00\\x1B[31m\": its description"},
      {file_of("{\"" + std::string(1'000, 'x') + "\":1}"), "xxx...\": its description"},
  };
}

}  // namespace

TEST_CASE("every malformed checkpoint is refused in one line with file, tensor and rule") {
  const TemporaryFolder folder;
  const std::vector<Malformed> files = malformed_files();
  CHECK(files.size() >= 60);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::filesystem::path path = folder.file("broken.safetensors", files[i].content);
    CAPTURE(i, files[i].words);
    std::string message = "(it was read)";
    try {
      TensorFile::read(path);
    } catch (const FileError& error) {
      message = error.what();
    }
    CHECK_THAT(message,
               StartsWith(path.string() + ": ") && Contains(files[i].words) && !Contains("\n"));
    CHECK(message.size() < path.string().size() + 400);
  }
}

TEST_CASE("the files that the table breaks are fine before they are broken") {
  const TemporaryFolder folder;
  const auto content = GENERATE(
      file_of(good, 8), file_of(good + "     ", 8), file_of("{}"), file_of("{}        "),
      file_of(R"({ "w" : { "shape" : [ 2 ] , "data_offsets":[0,8],"dtype":"F32"}})", 8),
      shaped("[1,1,1,1,1,2]"), shaped("[2]"), placed("[0,8]"), typed("\"F32\""), typed("\"I32\""),
      side_by_side({{4, 8}, {0, 4}, {8, 8}, {4, 4}}, 8), many_tensors(65'536),
      file_of(R"({"__metadata__":{}})"), file_of(R"({"__metadata__":{"w":"x","dtype":"y"}})"));
  const std::filesystem::path path = folder.file("fine.safetensors", content);
  CHECK_NOTHROW(TensorFile::read(path));
}

TEST_CASE("a checkpoint cut at any byte, or with a byte flipped in its header, never crashes") {
  const TemporaryFolder folder;
  const std::string whole = side_by_side({{0, 4}, {4, 8}}, 8);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CHECK_THROWS_AS(TensorFile::read(folder.file("cut", whole.substr(0, length))), FileError);
  }
  for (std::size_t at = 0; at < whole.size() - 8; ++at) {
    for (const char bit : {'\x01', '\x04', '\x10', '\x80'}) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ bit);
      try {
        TensorFile::read(folder.file("flipped", flipped));  // some flips only rename a tensor
      } catch (const FileError&) {
      }
    }
  }
}

TEST_CASE("what is not a file is refused as a checkpoint") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(TensorFile::read(folder / "none"), EndsWith("No such file or directory"));
  CHECK_THROWS_WITH(TensorFile::read(folder.path()), EndsWith("it is a folder"));
  CHECK_THROWS_WITH(TensorFile::read("/dev/zero"), EndsWith("it is not a file"));
}
