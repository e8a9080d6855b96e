#!/bin/bash
# build.sh: build the fuzz targets of test/fuzz into $OUT, each with its seeds and its options. ClusterFuzzLite runs it in
# the image that Dockerfile makes, and sets SRC, WORK, OUT, CC, CXX, CFLAGS, CXXFLAGS and LIB_FUZZING_ENGINE.
set -eu
cd "$SRC/paddock"
[ -x configure ] || autoreconf -fi
mkdir -p "$WORK/build"
(cd "$WORK/build" && "$SRC/paddock/configure" -q --disable-tests) # for config.h
unset PADDOCK_ZOOKEEPER_LIBS
PADDOCK_SRCDIR=$SRC/paddock PADDOCK_BUILDDIR=$WORK/build test/fuzz/run -o "$OUT"
