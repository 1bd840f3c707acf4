// Reads and writes a model's parameters by the names of another program.
#include "headroom_foreign/folders/name_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "headroom/algebra/algebra.hpp"
#include "headroom/base/error.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

/// How a parameter's array there differs from ours.
enum class Form { same, transposed, row };

/// A parameter of ours with its name there.
struct PlainParameter {
  std::string theirs, name;
  Tensor ours;
  Form form = Form::same;

  Shape shape() const {
    const Shape& here = ours.shape();
    return form == Form::same  ? here
           : form == Form::row ? Shape{1, here[0]}
                               : Shape{here[1], here[0]};
  }
};

/// An array of ours in the other form, or theirs in ours.
Array in_form(Form form, const Array& array) {
  if (form == Form::same) return array;
  if (form == Form::transposed) return transposed(array, 0, 1);
  return array.reshaped(array.rank() == 1 ? Shape{1, array.size()} : Shape{array.size()});
}

struct NamedForeignAttention {
  std::string theirs, name;  // the beginnings of its parameters' names
  Attention* ours;
};

/// A table whose rows are matched with the members of a model.
struct Matched {
  std::vector<PlainParameter> parameters;
  std::vector<NamedForeignAttention> attentions;
};

std::string with_layer(std::string name, Index layer) {
  const std::size_t at = name.find('#');
  return at == std::string::npos ? name : name.replace(at, 1, std::to_string(layer));
}

/// Matches the rows, each for as many layers as the model has. A row without a counterpart is
/// skipped: a part that this model does not have.
Matched matched(Module& model, const NameTable& table, bool with_prefix) {
  std::map<std::string, Tensor> tensors;
  for (const auto& [name, tensor] : parameters(model)) tensors[name] = tensor;
  std::map<std::string, Attention*> heads;
  for (const NamedAttention& found : attentions(model)) heads[found.name] = found.attention;

  Matched result;
  for (const NameRow& row : table.rows) {
    const std::string theirs =
        (with_prefix && row.of_base ? table.prefix : "") + std::string(row.theirs);
    const auto match = [&](const std::string& name, const std::string& ours, Form form) {
      const auto found = tensors.extract(ours);
      if (found.empty()) return false;
      result.parameters.push_back({name, ours, found.mapped(), form});
      return true;
    };
    const std::string ours = row.ours;
    const bool every_layer = ours.find('#') != std::string::npos;
    bool more = true;
    for (Index layer = 0; more && (every_layer || layer == 0); ++layer) {
      const std::string there = with_layer(theirs, layer), here = with_layer(ours, layer);
      if (row.what == NameOf::attention) {
        const auto found = heads.extract(here);
        more = !found.empty();
        if (more) result.attentions.push_back({there, here, found.mapped()});
        for (auto it = tensors.lower_bound(here + "."); more && it != tensors.end();) {
          if (!it->first.starts_with(here + ".")) break;
          it = tensors.erase(it);
        }
      } else if (row.what == NameOf::layer || row.what == NameOf::conv1d) {
        more = match(there + ".weight", here + ".weight",
                     row.what == NameOf::conv1d ? Form::transposed : Form::same);
        more = match(there + ".bias", here + ".bias", Form::same) || more;
      } else {
        more = match(there, here, row.what == NameOf::row ? Form::row : Form::same);
      }
    }
  }
  if (!tensors.empty()) {
    throw UsageError(fmt::format("{}: the other program has no name for {}", model.title(),
                                 tensors.begin()->first));
  }
  return result;
}

}  // namespace

NamedArrays in_foreign_names(Module& model, const NameTable& table, bool with_prefix,
                             bool gradients) {
  const Matched all = matched(model, table, with_prefix);
  NamedArrays arrays;
  for (const PlainParameter& parameter : all.parameters) {
    const Array& array = gradients ? parameter.ours.grad() : parameter.ours.value();
    if (array.defined()) arrays[parameter.theirs] = in_form(parameter.form, array);
  }
  for (const auto& [theirs, ours, attention] : all.attentions) {
    for (auto& [name, array] : gradients ? export_gradients(*attention, table.attention)
                                         : export_attention(*attention, table.attention)) {
      arrays[theirs + name] = array;
    }
  }
  return arrays;
}

std::map<std::string, Shape> foreign_shapes(Module& model, const NameTable& table,
                                            bool with_prefix) {
  const Matched all = matched(model, table, with_prefix);
  std::map<std::string, Shape> shapes;
  for (const PlainParameter& parameter : all.parameters) {
    shapes[parameter.theirs] = parameter.shape();
  }
  for (const auto& [theirs, ours, attention] : all.attentions) {
    for (const auto& [name, shape] : foreign_shapes(*attention, table.attention)) {
      shapes[theirs + name] = shape;
    }
  }
  return shapes;
}

std::map<std::string, std::vector<std::string>> foreign_names(Module& model,
                                                              const NameTable& table) {
  const Matched all = matched(model, table, true);
  std::map<std::string, std::vector<std::string>> names;
  for (const PlainParameter& parameter : all.parameters) {
    names[parameter.name] = {parameter.theirs};
  }
  const auto has = [](const std::string& name, const char* part) {
    return name.find(part) != name.npos;
  };
  // Output projections are called out, out_proj, output.dense or c_proj.
  const auto is_output = [&](const std::string& name) {
    return has(name, "out") || has(name, "c_proj");
  };
  for (const NamedForeignAttention& attention : all.attentions) {
    for (const NamedParameter& one : parameters(*attention.ours)) {
      for (const auto& [there, shape] : foreign_shapes(*attention.ours, table.attention)) {
        if (is_output(there) != is_output(one.name) ||
            has(there, "bias") != has(one.name, "bias")) {
          continue;
        }
        names[attention.name + "." + one.name].push_back(attention.theirs + there);
      }
    }
  }
  return names;
}

std::map<std::string, std::string> second_names(Module& model, const NameTable& table,
                                                bool with_prefix) {
  const Matched all = matched(model, table, with_prefix);
  std::map<std::string, std::string> names;
  for (const SecondName& second : table.second_names) {
    const auto first = std::ranges::find(all.parameters, second.ours, &PlainParameter::name);
    const auto own = std::ranges::find(all.parameters, second.theirs, &PlainParameter::theirs);
    if (first != all.parameters.end() && own == all.parameters.end()) {
      names[second.theirs] = first->theirs;
    }
  }
  return names;
}

void read_foreign_names(Module& model, const NameTable& table, bool with_prefix,
                        const std::function<Array(const std::string& name)>& array_of) {
  const Matched all = matched(model, table, with_prefix);
  for (const PlainParameter& parameter : all.parameters) {
    const Array array = array_of(parameter.theirs);
    if (!(array.shape() == parameter.shape())) {
      throw ShapeError(fmt::format("{} is {}, but the configuration needs {}", parameter.theirs,
                                   array.shape().text(), parameter.shape().text()));
    }
    Tensor(parameter.ours).set_value(in_form(parameter.form, array));
  }
  for (const auto& [theirs, ours, attention] : all.attentions) {
    NamedArrays arrays;
    for (const auto& [name, shape] : foreign_shapes(*attention, table.attention)) {
      arrays[name] = array_of(theirs + name);
    }
    import_attention(arrays, *attention, table.attention);
  }
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
