// Reads the header event by event (SAX): a DOM would keep the last of duplicate keys, and would not
// tell 1 from 1.0 and -0.
#include "io/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "headroom/base/error.hpp"
#include "headroom/base/utf8.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

constexpr const char* metadata_key = "__metadata__";

[[noreturn]] void refuse(const std::string& file, const std::string& tensor,
                         const std::string& rule) {
  throw FileError(fmt::format("{}: tensor \"{}\": {}", file, printable(tensor), rule));
}

[[noreturn]] void refuse_header(const std::string& file, const std::string& rule) {
  throw FileError(fmt::format("{}: header: {}", file, rule));
}

// Follows the parser through the three levels of a header.
class HeaderReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  HeaderReader(const std::string& file, Header& header) : file_(file), header_(header) {}

  bool null() override { unexpected("null"); }
  bool boolean(bool) override { unexpected("a truth value"); }
  bool binary(binary_t&) override { unexpected("binary data"); }
  bool number_integer(number_integer_t) override { unexpected("a number with a sign"); }
  bool number_float(number_float_t, const string_t& token) override {
    unexpected(fmt::format("the number {}", printable(token)));
  }

  bool number_unsigned(number_unsigned_t number) override {
    if (place_ == Place::shape) {
      if (entry().shape.rank() == Shape::max_rank) {
        refuse(file_, entry().name, fmt::format("has more than {} axes", Shape::max_rank));
      }
      if (number > std::uint64_t{std::numeric_limits<Index>::max()}) {
        refuse(file_, entry().name, fmt::format("size {} is too large", number));
      }
      entry().shape.push_back(Index(number));
      return true;
    }
    if (place_ == Place::offsets) {
      if (offsets_ == 2) refuse(file_, entry().name, "data_offsets must be two numbers, got more");
      (offsets_ == 0 ? entry().begin : entry().end) = number;
      ++offsets_;
      return true;
    }
    unexpected(fmt::format("the number {}", number));
  }

  bool string(string_t& text) override {
    if (place_ == Place::metadata) {
      header_.metadata[key_] = text;
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") {
      unexpected(fmt::format("the text \"{}\"", printable(text)));
    }
    std::string known;
    for (const StoredType type : all_stored_types) {
      if (text == name_of(type)) {
        entry().type = type;
        return true;
      }
      known += known.empty() ? name_of(type) : std::string(", ") + name_of(type);
    }
    refuse(file_, entry().name,
           fmt::format("dtype \"{}\" is not one of {}", printable(text), known));
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::root;
    } else if (place_ == Place::root) {
      place_ = key_ == metadata_key ? Place::metadata : Place::tensor;
      if (place_ == Place::tensor) header_.entries.emplace_back().name = key_;
      fields_.clear();
    } else {
      unexpected("an object");
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      for (const char* field : {"dtype", "shape", "data_offsets"}) {
        if (!fields_.contains(field)) {
          refuse(file_, entry().name, fmt::format("{} is missing", field));
        }
      }
    }
    place_ = place_ == Place::root ? Place::outside : Place::root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || key_ == "dtype") unexpected("a list");
    place_ = key_ == "shape" ? Place::shape : Place::offsets;
    offsets_ = 0;
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets && offsets_ != 2) {
      refuse(file_, entry().name,
             fmt::format("data_offsets must be two numbers, got {}", offsets_));
    }
    place_ = Place::tensor;
    return true;
  }

  bool key(string_t& name) override {
    key_ = name;
    if (place_ == Place::root) {
      if (!names_.insert(name).second) refuse(file_, name, "occurs twice");
      if (name != metadata_key && header_.entries.size() == most_tensors) {
        refuse_header(file_, fmt::format("more than {} tensors", most_tensors));
      }
    } else if (place_ == Place::metadata) {
      if (header_.metadata.contains(name)) {
        refuse_header(file_, fmt::format("metadata \"{}\" occurs twice", printable(name)));
      }
    } else {
      if (name != "dtype" && name != "shape" && name != "data_offsets") {
        refuse(file_, entry().name,
               fmt::format("has an unknown field \"{}\"; a tensor has exactly dtype, shape and "
                           "data_offsets",
                           printable(name)));
      }
      if (!fields_.insert(name).second) {
        refuse(file_, entry().name, fmt::format("{} occurs twice", name));
      }
    }
    return true;
  }

  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& error) override {
    const std::string_view words = error.what();  // "[json.exception.parse_error.101] ..."
    refuse_header(file_, fmt::format("malformed JSON: {}",
                                     printable(words.substr(words.find(' ') + 1), 200)));
  }

 private:
  enum class Place { outside, root, metadata, tensor, shape, offsets };

  TensorEntry& entry() { return header_.entries.back(); }

  [[noreturn]] void unexpected(const std::string& what) {
    switch (place_) {
      case Place::outside: refuse_header(file_, fmt::format("must be an object, got {}", what));
      case Place::root:
        refuse(file_, key_, fmt::format("its description must be an object, got {}", what));
      case Place::metadata:
        refuse_header(file_,
                      fmt::format("metadata \"{}\" must be a text, got {}", printable(key_), what));
      case Place::tensor:
        refuse(file_, entry().name,
               fmt::format("{} must be {}, got {}", key_,
                           key_ == "dtype" ? "a text" : "a list of numbers", what));
      default:
        refuse(file_, entry().name,
               fmt::format("{} takes plain unsigned integers, got {}", key_, what));
    }
  }

  const std::string& file_;
  Header& header_;
  Place place_ = Place::outside;
  std::string key_;                       // the last one seen
  std::set<std::string> names_, fields_;  // seen in the header, in the current tensor
  int offsets_ = 0;                       // seen of data_offsets
};

void check_size(const TensorEntry& entry, std::uint64_t data_size, const std::string& file) {
  std::uint64_t elements = 0, bytes = 0;
  if (!count_elements(entry.shape, elements) ||
      __builtin_mul_overflow(elements, static_cast<std::uint64_t>(size_of(entry.type)), &bytes)) {
    refuse(file, entry.name, fmt::format("the size of shape {} overflows", entry.shape.text()));
  }
  if (entry.begin > entry.end) {
    refuse(file, entry.name,
           fmt::format("data_offsets [{}, {}] run backwards", entry.begin, entry.end));
  }
  if (entry.end > data_size) {
    refuse(file, entry.name,
           fmt::format("data_offsets [{}, {}] reach beyond the {} bytes of data", entry.begin,
                       entry.end, data_size));
  }
  if (entry.end - entry.begin != bytes) {
    refuse(
        file, entry.name,
        fmt::format("{} {} takes {} bytes but data_offsets [{}, {}] hold {}", name_of(entry.type),
                    entry.shape.text(), bytes, entry.begin, entry.end, entry.end - entry.begin));
  }
}

// Tensors in the order of their data must be adjacent from the first byte to the last.
void check_tiling(const std::vector<TensorEntry>& entries, std::uint64_t data_size,
                  const std::string& file) {
  std::uint64_t covered = 0;
  for (const TensorEntry& entry : entries) {
    if (entry.begin < covered) {
      refuse(file, entry.name,
             fmt::format("overlaps the tensor before it: starts at byte {}, that one ends at {}",
                         entry.begin, covered));
    }
    if (entry.begin > covered) {
      refuse(file, entry.name,
             fmt::format("a hole before it: bytes [{}, {}) of the data belong to no tensor",
                         covered, entry.begin));
    }
    covered = entry.end;
  }
  if (covered != data_size) {
    refuse_header(
        file, fmt::format(
                  "bytes [{}, {}) after the last tensor{} belong to no tensor", covered, data_size,
                  entries.empty() ? "" : fmt::format(" \"{}\"", printable(entries.back().name))));
  }
}

}  // namespace

bool count_elements(const Shape& shape, std::uint64_t& count) {
  std::uint64_t product = 1;
  bool empty = false;
  for (const Index size : shape) {
    empty = empty || size == 0;
    if (__builtin_mul_overflow(product, static_cast<std::uint64_t>(std::max<Index>(size, 1)),
                               &product) ||
        product > std::uint64_t{std::numeric_limits<Index>::max()}) {
      return false;
    }
  }
  count = empty ? 0 : product;
  return true;
}

Header parse_header(std::string_view text, std::uint64_t data_size, const std::string& file) {
  if (!text.starts_with('{')) refuse_header(file, "must start with {");
  if (const auto at = find_malformed_utf8(text)) {
    refuse_header(file, fmt::format("byte {} is not valid UTF-8", *at));
  }
  text = text.substr(0, text.find_last_not_of(' ') + 1);  // the format pads with spaces
  if (!text.ends_with('}')) refuse_header(file, "must end with } and spaces");
  Header header;
  HeaderReader reader(file, header);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);

  for (const TensorEntry& entry : header.entries) check_size(entry, data_size, file);
  std::sort(header.entries.begin(), header.entries.end(),
            [](const TensorEntry& a, const TensorEntry& b) {
              return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
            });
  check_tiling(header.entries, data_size, file);
  return header;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
