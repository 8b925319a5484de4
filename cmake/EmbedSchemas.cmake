# Run as a script: writes OUTPUT, a C++ file that holds every schema of FOLDER as text.
#
#   cmake -DFOLDER=schemas -DOUTPUT=schemas.cc -P EmbedSchemas.cmake

file(GLOB files ${FOLDER}/*.schema.json)
set(entries "")
foreach(file IN LISTS files)
  cmake_path(GET file FILENAME name)
  string(REPLACE ".schema.json" "" name ${name})
  file(READ ${file} text)
  string(APPEND entries "    {\"${name}\", R\"schema(${text})schema\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Generated from schemas/.
#include \"cli/schemas.h\"

namespace fairlead::cli {
namespace {

constexpr Schema kSchemas[] = {
${entries}};

}  // namespace

std::span<const Schema> schemas() { return kSchemas; }

}  // namespace fairlead::cli
")
