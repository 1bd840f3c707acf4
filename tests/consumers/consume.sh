#!/usr/bin/env bash
# Installs headroom into a temporary prefix and builds one user's program against it.
#
# usage: consume.sh BUILD_FOLDER COMPILER KIND [LIBRARY BYTES [SCALAR MARCH]]
#   KIND: package, bridge, layers, pkg_config, shared, mixed, subproject, configure_subproject,
#   fetched, configure_fetched, configure_engine_only
set -euo pipefail
build=$1 compiler=$2 kind=$3 library=${4:-headroom} bytes=${5:-4} scalar=${6:-OFF} march=${7:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=program.cpp
case $library in
  headroom_measure* | headroom_runs*) program=own_removal.cpp ;;
  headroom_lab*) program=own_experiment.cpp ;;
esac
prefix=$folder/prefix

install_it() { cmake --install "$build" --prefix "$prefix" >/dev/null; }

configure() { # configure PROJECT OPTION...
  cmake -S "$here/$1" -B "$folder/build" -DCMAKE_CXX_COMPILER="$compiler" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release "${@:2}"
}

must_not_mix() { # must_not_mix TEXT LOG
  grep -q "$1" "$2" || { cat "$2"; echo "failed, but without saying: $1"; exit 1; }
}

case $kind in
  package | bridge | layers)
    install_it
    configure "$kind" --no-warn-unused-cli -DLIBRARY="$library" \
      -DPROGRAM="$program" -DEXPECTED_BYTES="$bytes" -DSCALAR="$scalar" \
      -DMARCH="$march" >/dev/null
    cmake --build "$folder/build" >/dev/null
    (cd "$folder" && build/consumer)
    ;;
  pkg_config)
    install_it
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name "$library.pc")")
    export PKG_CONFIG_PATH
    read -r -a flags <<<"$(pkg-config --cflags "$library")"
    read -r -a libs <<<"$(pkg-config --libs "$library")"
    "$compiler" -std=c++20 -DEXPECTED_BYTES="$bytes" "${flags[@]}" "$here/$program" \
      -o "$folder/consumer" "${libs[@]}"
    (cd "$folder" && ./consumer)
    ;;
  shared) # links what BUILD_SHARED_LIBS=ON links, from the objects that are there
    install_it
    libs=$(dirname "$(find "$prefix" -name libheadroom_lab_f64.a)")
    whole() { # whole LIBRARY FLAG...: a shared library that needs nothing else
      "$compiler" -shared -o "$folder/lib$1.so" -Wl,--whole-archive "$libs/lib$1.a" \
        -Wl,--no-whole-archive -Wl,--no-undefined -L"$folder" "${@:2}"
    }
    whole headroom_f64 -lfmt -lopenblas -fopenmp
    read -r -a sentencepiece <<<"$(pkg-config --libs-only-l sentencepiece 2>/dev/null)"
    whole headroom_foreign_f64 -lheadroom_f64 -lfmt -lutf8proc "${sentencepiece[@]}"
    whole headroom_measure_f64 -lheadroom_f64 -lfmt
    below=(-lheadroom_measure_f64 -lheadroom_foreign_f64 -lheadroom_f64 -lfmt)
    whole headroom_runs_f64 "${below[@]}"
    whole headroom_lab_f64 -lheadroom_runs_f64 "${below[@]}"
    "$compiler" -std=c++20 -DHEADROOM_PRECISION=f64 -DHEADROOM_DOUBLE -DEXPECTED_BYTES=8 \
      -I"$prefix/include" "$here/own_experiment.cpp" -o "$folder/consumer" -L"$folder" \
      -lheadroom_lab_f64 -lheadroom_runs_f64 "${below[@]}"
    (cd "$folder" && LD_LIBRARY_PATH=$folder ./consumer)
    ;;
  subproject | configure_subproject | fetched | configure_fetched)
    configure "${kind#configure_}" -DHEADROOM_SOURCE="$(realpath "$here/../..")" \
      -DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_UNITY_BUILD=ON >/dev/null
    [[ $kind != configure_* ]] || exit 0
    cmake --build "$folder/build" --parallel >/dev/null
    "$folder/build/consumer"
    ;;
  configure_engine_only) # installs nothing but the engine
    configure ../.. -DHEADROOM_ENGINE_ONLY=ON >/dev/null
    ls "$folder"/build/*.pc
    [[ $(cd "$folder/build" && echo *.pc) == 'headroom.pc headroom_f64.pc' ]]
    ;;
  mixed)
    install_it
    include=$prefix/include
    "$compiler" -std=c++20 -I"$include" -DHEADROOM_PRECISION=f32 -c "$here/mixed/float_part.cpp" \
      -o "$folder/float.o"
    "$compiler" -std=c++20 -I"$include" -DHEADROOM_PRECISION=f64 -DHEADROOM_DOUBLE \
      -c "$here/mixed/double_part.cpp" -o "$folder/double.o"
    libs=$(dirname "$(find "$prefix" -name libheadroom.a)")
    if "$compiler" "$folder"/{float,double}.o -L"$libs" -lheadroom -lheadroom_f64 -lfmt -fopenmp \
      -lopenblas -o "$folder/mixed" 2>"$folder/log"; then
      echo "float and double linked together"
      exit 1
    fi
    must_not_mix 'undefined reference to `total(headroom::f32::' "$folder/log"
    if configure mixed >"$folder/log" 2>&1; then
      echo "CMake took both libraries in one target"
      exit 1
    fi
    must_not_mix 'headroom_PRECISION' "$folder/log"
    echo "mixing the precisions is an error, as it should be"
    ;;
esac
