# Third-party targets and the one function that declares a module of the ladder.
find_package(Threads REQUIRED)
find_package(tl-expected REQUIRED)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(xxhash INTERFACE IMPORTED)
target_include_directories(xxhash SYSTEM INTERFACE "${XXHASH_INCLUDE_DIR}")
find_package(PkgConfig REQUIRED)
pkg_check_modules(OPENBLAS REQUIRED IMPORTED_TARGET openblas)

# Kernels are compiled for the baseline (portable on x86, NEON on Arm), AVX2 and AVX3 and chosen at run time. The targets between
# cost compile time and gain nothing; SVE and RVV cannot hold vectors in arrays. Every source that includes Highway must see
# the same list, or its inline functions differ between files.
set(disabled HWY_SSSE3|HWY_SSE4|HWY_AVX3_DL|HWY_SVE|HWY_SVE2|HWY_SVE_256|HWY_SVE2_128|HWY_RVV)
if(PANTILE_SANITIZE)
  string(APPEND disabled "|HWY_AVX3")  # the same source as AVX2: a second copy under a sanitizer finds nothing new and takes minutes
endif()
add_library(pantile_simd INTERFACE)
target_compile_definitions(pantile_simd INTERFACE "HWY_DISABLED_TARGETS=${disabled}")

# Header-only and used only inside .cpp files: whoever links the installed library does not need them.
set(PANTILE_HEADER_ONLY nlohmann_json::nlohmann_json xxhash)

add_library(pantile_options INTERFACE)
target_compile_features(pantile_options INTERFACE cxx_std_20)
target_compile_options(pantile_options INTERFACE -Wall -Wextra $<$<BOOL:${PANTILE_WERROR}>:-Werror>)
if(PANTILE_SANITIZE)
  target_compile_options(pantile_options INTERFACE -fsanitize=${PANTILE_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(pantile_options INTERFACE -fsanitize=${PANTILE_SANITIZE})
endif()

# Headers that nearly every source reads, compiled once per target: about two seconds of each file.
function(pantile_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <cstdint> <functional> <memory> <optional> <span> <string> <string_view>
                            <utility> <vector> ${ARGN})
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>) # what ccache needs to see through them
endfunction()

# pantile_module(<name> DEPENDS <modules or exported targets> PRIVATE <implementation-only targets>)
# Sources are src/<name>/*.cpp and src/<name>/kernels/*.cpp; public headers are include/pantile/<name>/*.h.
function(pantile_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${name}/*.cpp" "${PROJECT_SOURCE_DIR}/src/${name}/kernels/*.cpp")
  if(NOT sources)
    return()
  endif()
  set(target pantile_${name})
  add_library(${target} STATIC ${sources})
  add_library(pantile::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME ${name} CXX_EXTENSIONS OFF)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>
                             PRIVATE "${PROJECT_SOURCE_DIR}/src")
  target_compile_features(${target} PUBLIC cxx_std_20)
  foreach(dep IN LISTS ARG_DEPENDS)
    if(TARGET pantile_${dep})
      target_link_libraries(${target} PUBLIC pantile::${dep})
    else()
      target_link_libraries(${target} PUBLIC ${dep})
    endif()
  endforeach()
  foreach(dep IN LISTS ARG_PRIVATE)
    if(dep IN_LIST PANTILE_HEADER_ONLY)
      target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${dep}>)
    else()
      target_link_libraries(${target} PRIVATE ${dep})
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:pantile_options> $<BUILD_INTERFACE:pantile_simd>)
  pantile_precompile(${target} <fmt/format.h> <tl/expected.hpp>)
  set_property(GLOBAL APPEND PROPERTY PANTILE_MODULES ${name})
endfunction()
