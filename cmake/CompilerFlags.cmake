# How our code is compiled, the same in every room.
#
# Optimisation comes from the preset (CMakePresets.json). NDEBUG is never defined: the checks on
# invariants stay on in release.

set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(FAIRLEAD_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Known false alarms of g++ 12 and 13 in code of the standard library that was inlined into ours.
  add_compile_options(
    -Wno-restrict -Wno-dangling-reference -Wno-maybe-uninitialized -Wno-stringop-overread)
else()
  # g++'s -Wconversion leaves these out; both compilers shall ask for the same.
  add_compile_options(-Wno-sign-conversion -Wno-implicit-int-float-conversion)
endif()

if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

if(FAIRLEAD_SANITIZE)
  add_compile_options(
    -fsanitize=${FAIRLEAD_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${FAIRLEAD_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The instrumented code defeats the flow analysis behind these.
    add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
  endif()
endif()
if(FAIRLEAD_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "FAIRLEAD_FUZZ needs clang; use the preset 'fuzz'")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=lld FAIRLEAD_HAVE_LLD)
if(FAIRLEAD_HAVE_LLD)
  add_link_options(-fuse-ld=lld)
endif()
