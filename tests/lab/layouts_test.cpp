// layouts: the location of each head, and lossless conversion.
#include "headroom/nn/fused_heads.hpp"
#include "headroom/surgery/layout_conversion.hpp"
#include "lab/lab_support.hpp"

using namespace headroom;
using namespace lab_test;

TEST_CASE("layouts holds for any seed and size") {
  check_holds("layouts", {{1, 1, 1}, {6, 1, 2}, {4, 4, 3}, {12, 3, 4}, {64, 8, 5}}, 8);
}

TEST_CASE("layouts names the arrays of other implementations, and where a head is in them") {
  const Record record = run("layouts", 12, 3);
  const auto row_of = [](const Record& block, const std::string& name) {
    for (const Record& row : block["rows"]) {
      if (row[0] == name) return row;
    }
    return Record();
  };
  const Record& names = block_with(record, "array")["rows"];
  const auto shape_of = [&](const std::string& array) {
    for (const Record& row : names) {
      if (row[1] == array) return row[2].get<std::string>();
    }
    return std::string("missing");
  };
  CHECK(shape_of("query.0.weight to query.2.weight") == "[4, 12]");
  CHECK(shape_of("in_proj_weight") == "[36, 12]");
  CHECK(shape_of("self.query.weight") == "[12, 12]");
  CHECK(shape_of("c_attn.weight") == "[12, 36]");
  const Record& places = block_with(record, "transposed");
  for (const char* layout : {"separate heads", "fused heads", "pytorch", "bert", "gpt2", "bart"}) {
    CHECK(row_of(places, layout)[3] == 4 * 12 * 12 + 4 * 12);
  }
  CHECK(row_of(places, "summae")[3] == 4 * 12 * 12);
  CHECK(row_of(places, "gpt2")[1] == "columns 8 to 11 of c_attn.weight");

  // Every pair that can be converted, in both orders: SummAE has no biases, those but PyTorch
  // always do.
  const Record& pairs = block_with(record, "to summae")["rows"];
  REQUIRE(pairs.size() == 5);
  for (std::size_t from = 0; from < 5; ++from) {
    for (std::size_t to = 0; to < 5; ++to) {
      const bool biases = 1 <= from && from <= 3 && to == 4,
                 none = from == 4 && 1 <= to && to <= 3;
      CHECK(pairs[from][to + 1] == (biases || none ? Record("-") : Record(0)));
    }
  }

  // The location it names, by hand: head 2's query weights are rows 8 to 11 here, columns there.
  Rng rng(3);
  FusedHeads layer({.width = 12, .heads = 3}, rng);
  const Array there = export_attention(layer, ForeignLayout::gpt2).at("c_attn.weight");
  for (Index o = 8; o < 12; ++o) {
    for (Index i = 0; i < 12; ++i) {
      CHECK(there[i * 36 + o] == layer.in_proj_weight.value()[o * 12 + i]);
    }
  }
}

TEST_CASE("layouts says that the wrong order gives another layer only where it does") {
  const auto caption = [](Index width, Index heads) {
    const Record record = run("layouts", width, heads);
    const Record& block = block_with(record, "exported as [D, heads], imported as");
    CHECK(block["rows"][0][2] == 0);
    return in_words(block["caption"]);
  };
  CHECK_THAT(caption(12, 3), Catch::EndsWith("Imported in the first, it is another layer."));
  for (const Index heads : {1, 4}) {
    CHECK_THAT(caption(4, heads),
               Catch::EndsWith("it is the same layer, because both orders are equal."));
  }
}
