# Run as a script: writes OUTPUT, a C++ file that holds the API's description and the start page.
#
#   cmake -DDESCRIPTION=openapi.yaml -DPAGE=index.html -DOUTPUT=assets.cc -P EmbedAssets.cmake

file(READ ${DESCRIPTION} description)
file(READ ${PAGE} page)
# A literal has its limits in compilers; these texts are far below them.
file(WRITE ${OUTPUT} "// Generated from api/openapi.yaml and src/api/page/.
#include \"api/api.h\"

namespace fairlead::api {

std::string_view description_text() { return R\"asset(${description})asset\"; }

std::string_view start_page() { return R\"asset(${page})asset\"; }

}  // namespace fairlead::api
")
