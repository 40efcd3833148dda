#!/bin/sh
# Builds the wheels of the server's image. usage: build.sh SOURCES WHEELS   (needs Rust and Python)
set -eu
sources=$1 wheels=$2
mkdir -p "$wheels"
python3 -m pip wheel --quiet --no-deps --wheel-dir "$wheels" \
    "$sources" "$sources/packages/meteor" "$sources/packages/server"
