// Reads the symbol tables of ELF files, and compares the functions of an answer with its
// solution's.
#include "course/learn_symbols.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string_view>

#include "course/learn_build.hpp"
#include "headroom/base/error.hpp"
#include "headroom/base/invocation.hpp"
#include "headroom/io/atomic_file.hpp"

namespace headroom {
inline namespace HEADROOM_PRECISION {

namespace {

namespace fs = std::filesystem;

/// A part of a file as elements of type T. Throws DataError if the file is too short.
template <class T>
std::vector<T> part_of(std::ifstream& in, const fs::path& file, std::uint64_t begin,
                       std::uint64_t bytes) {
  std::vector<T> elements(bytes / sizeof(T));
  const auto size = std::streamsize(elements.size() * sizeof(T));
  in.seekg(std::streamoff(begin));
  if (!in.read(reinterpret_cast<char*>(elements.data()), size)) {
    throw DataError(fmt::format("{}: not a whole ELF file", file.string()));
  }
  return elements;
}

/// Calls visit(name, defined) for every global symbol of the dynamic symbol table, or of an object
/// file's only one: undefined ones, and functions that others can call. Reads only these tables,
/// since a library is large and this is done after every edit.
template <class Visit>
void visit_functions(const fs::path& file, const Visit& visit) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw FileError(fmt::format("{}: cannot be read", file.string()));
  const auto header = part_of<ElfW(Ehdr)>(in, file, 0, sizeof(ElfW(Ehdr)))[0];
  constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != own_class) {
    throw DataError(fmt::format("{}: not an ELF file of this machine", file.string()));
  }
  const auto sections = part_of<ElfW(Shdr)>(in, file, header.e_shoff,
                                            std::uint64_t(header.e_shnum) * sizeof(ElfW(Shdr)));
  const auto table_type = header.e_type == ET_REL ? SHT_SYMTAB : SHT_DYNSYM;
  for (const ElfW(Shdr) & table : sections) {
    if (table.sh_type != ElfW(Word)(table_type) || table.sh_link >= sections.size()) continue;
    const ElfW(Shdr)& strings = sections[table.sh_link];
    auto names = part_of<char>(in, file, strings.sh_offset, strings.sh_size);
    names.push_back('\0');
    for (const auto& symbol : part_of<ElfW(Sym)>(in, file, table.sh_offset, table.sh_size)) {
      if (ELF64_ST_BIND(symbol.st_info) != STB_GLOBAL || symbol.st_name >= names.size()) continue;
      const bool defined = symbol.st_shndx != SHN_UNDEF;
      const bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
                            ELF64_ST_VISIBILITY(symbol.st_other) == STV_DEFAULT;
      if (!defined || function) visit(std::string_view(&names[symbol.st_name]), defined);
    }
  }
}

std::string demangled(const std::string& function) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(function.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : function;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

/// A demangled name in parts: "headroom::f64::composed", "split_heads", "(headroom::f64::Tensor
/// const&, long)".
struct NameParts {
  std::string scope, name, parameters;
};

NameParts name_parts(const std::string& function) {
  const std::string text = demangled(function);
  const std::size_t call = text.find("operator()");
  const std::size_t open =
      std::min(text.find('(', call == std::string::npos ? 0 : call + 10), text.size());
  const std::size_t colon = text.rfind("::", open);
  const std::size_t name = colon == std::string::npos ? 0 : colon + 2;
  return {text.substr(0, name == 0 ? 0 : colon), text.substr(name, open - name), text.substr(open)};
}

/// The index after the bracket that closes the one at `open`.
std::size_t end_of_brackets(const std::string& text, std::size_t open) {
  Index depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1;
  }
  return text.size();
}

/// The number of parameters in the brackets at `open`.
Index parameter_count(const std::string& text, std::size_t open) {
  const std::size_t end = end_of_brackets(text, open);
  Index depth = 0, commas = 0;
  bool any = false;
  for (std::size_t i = open; i < end; ++i) {
    if (text[i] == '(' || text[i] == '<' || text[i] == '{') ++depth;
    if (text[i] == ')' || text[i] == '>' || text[i] == '}') --depth;
    if (text[i] == ',' && depth == 1) ++commas;
    any = any || (depth >= 1 && i > open && std::isspace(static_cast<unsigned char>(text[i])) == 0);
  }
  return any ? commas + 1 : 0;
}

/// A type or list of types as people write it: "const Tensor&" for "headroom::f64::Tensor const&".
std::string plain_types(std::string text) {
  for (const char* part : {"headroom::", "f64::", "f32::", "std::__cxx11::"}) {
    replace_all(text, part, "");
  }
  replace_all(text, "basic_string<char, std::char_traits<char>, std::allocator<char> >",
              "std::string");
  constexpr std::string_view allocator = ", std::allocator<";
  for (std::size_t at; (at = text.find(allocator)) != std::string::npos;) {
    Index depth = 0;
    std::size_t end = at + allocator.size() - 1;
    do {
      depth += text[end] == '<' ? 1 : text[end] == '>' ? -1 : 0;
    } while (++end < text.size() && depth > 0);
    if (text.compare(end, 1, " ") == 0) ++end;
    text.erase(at, end - at);
  }
  replace_all(text, "> >", ">>");
  constexpr std::string_view east = " const&";
  for (std::size_t at; (at = text.find(east)) != std::string::npos;) {
    Index depth = 0;
    std::size_t begin = at;  // of the type before "const"
    for (; begin > 0; --begin) {
      const char c = text[begin - 1];
      depth += c == '>' ? 1 : c == '<' ? -1 : 0;
      if (depth < 0 || (depth == 0 && (c == '(' || c == ',' || c == ' '))) break;
    }
    text.replace(at, east.size(), "&");
    text.insert(begin, "const ");
  }
  return text;
}

/// "Tensor softmax(const Tensor& x)", as an answer's code defines a function; its readable name if
/// that is not found.
std::string declaration_of(const std::string& code, const std::string& function) {
  const std::size_t open = parameters_in(code, function);
  if (open == std::string::npos) return readable_name(function);
  const std::size_t line = code.rfind('\n', open) + 1;  // npos + 1 is 0
  std::size_t end = end_of_brackets(code, open);
  if (code.compare(end, 6, " const") == 0) end += 6;
  std::string text;
  for (const char c : code.substr(line, end - line)) {
    const bool space = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (space && (text.empty() || text.back() == ' ')) continue;
    text += space ? ' ' : c;
  }
  return text;
}

/// The word before an answer's definition that keeps it out of the table of global symbols:
/// "inline", "static", ... or "".
std::string hiding_word(const std::string& code, const std::string& function) {
  const std::size_t open = parameters_in(code, function);
  if (open == std::string::npos) return "";
  const std::size_t line = code.rfind('\n', open) + 1;  // npos + 1 is 0
  std::istringstream words(code.substr(line, open - line));
  for (std::string word; words >> word;) {
    for (const char* hiding : {"inline", "static", "constexpr", "__attribute__((weak))"}) {
      if (word == hiding) return word;
    }
  }
  return "";
}

/// "the namespace headroom::HEADROOM_PRECISION"
std::string scope_text(std::string scope) {
  for (const char* precision : {"f32", "f64"}) replace_all(scope, precision, "HEADROOM_PRECISION");
  return scope.empty() ? "outside of all namespaces" : fmt::format("in `{}`", scope);
}

}  // namespace

Functions defined_functions(const fs::path& file) {
  Functions functions;
  visit_functions(file, [&](std::string_view name, bool defined) {
    if (defined) functions.emplace(name);
  });
  return functions;
}

Functions undefined_functions(const fs::path& file) {
  Functions functions;
  visit_functions(file, [&](std::string_view name, bool defined) {
    if (!defined) functions.emplace(name);
  });
  return functions;
}

Functions replaced_functions(const Course& course, const CoursePrecision& precision,
                             const Functions& candidates) {
  Functions replaced;
  std::string name;
  for (const fs::path& library : shared_libraries(course, precision)) {
    visit_functions(library, [&](std::string_view function, bool defined) {
      name = function;
      if (defined && candidates.contains(name)) replaced.insert(name);
    });
  }
  return replaced;
}

Functions required_functions(const Course& course, const Exercise& exercise,
                             const CoursePrecision& precision) {
  const Functions solution = defined_functions(course.folder() / ("solutions" + precision.suffix) /
                                               fmt::format("lib{}.so", exercise.target()));
  Functions required = replaced_functions(course, precision, solution);
  for (const std::string& function :
       undefined_functions(checks_program(course, exercise, precision))) {
    if (solution.contains(function)) required.insert(function);
  }
  return required;
}

std::string missing_text(const Course& course, const Exercise& exercise,
                         const CoursePrecision& precision, const fs::path& source,
                         const fs::path& library) {
  const Functions required = required_functions(course, exercise, precision);
  const Functions defined = defined_functions(library);
  const auto missing =
      std::find_if(required.begin(), required.end(),
                   [&](const std::string& function) { return !defined.contains(function); });
  if (missing == required.end()) return "";
  if (const std::string word = hiding_word(read_file(source), *missing); !word.empty()) {
    return fmt::format("the checks cannot call your `{0}`, because it is `{1}`. Remove `{1}`.",
                       declaration_of(exercise.master.skeleton().code, *missing), word);
  }
  const NameParts wanted = name_parts(*missing);
  std::string others;
  for (const std::string& function : defined) {
    if (required.contains(function)) continue;
    const NameParts other = name_parts(function);
    if (other.name == wanted.name && other.parameters == wanted.parameters) {
      others = fmt::format(" {}. It must be {}: a line with `namespace` is missing",
                           scope_text(other.scope), scope_text(wanted.scope));
      break;
    }
    others += fmt::format("{} `{}`", others.empty() ? "" : ",", readable_name(function));
  }
  return fmt::format(
      "your file does not define `{}`; {}. Name, parameters and namespaces must be those of the "
      "first file, which {} learn reset {} writes again. It keeps yours under another name.",
      declaration_of(exercise.master.skeleton().code, *missing),
      others.empty() ? "it defines no other function" : "it defines" + others, invocation(),
      exercise.id);
}

std::string short_name(const std::string& function) {
  const NameParts parts = name_parts(function);
  return plain_types(parts.scope.empty() ? "" : parts.scope + "::") + parts.name;
}

std::string readable_name(const std::string& function) { return plain_types(demangled(function)); }

std::size_t parameters_in(const std::string& code, const std::string& function) {
  const NameParts parts = name_parts(function);
  const std::string name = parts.name + "(";
  for (std::size_t at = 0; (at = code.find(name, at)) != std::string::npos; ++at) {
    const std::size_t line = code.rfind('\n', at) + 1;  // npos + 1 is 0
    const unsigned char first = static_cast<unsigned char>(code[line]);
    const auto before = at == 0 ? '\n' : code[at - 1];
    const bool whole = std::isalnum(static_cast<unsigned char>(before)) == 0 && before != '_';
    const std::size_t open = at + name.size() - 1;
    // A definition is not indented, as calls are.
    if (whole && (std::isalpha(first) != 0 || first == '_') &&
        parameter_count(code, open) == parameter_count(parts.parameters, 0)) {
      return open;
    }
  }
  return std::string::npos;
}

}  // namespace HEADROOM_PRECISION
}  // namespace headroom
