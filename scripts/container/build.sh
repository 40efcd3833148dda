#!/bin/sh
# Gathers the wheels of the server's image. usage: build.sh SOURCES WHEELS (needs Rust), or build.sh VERSION WHEELS (PyPI)
set -eu
from=$1 wheels=$2
mkdir -p "$wheels"
if [ -d "$from" ]; then
    from=$(cd "$from" && pwd)
    python3 -m pip wheel --quiet --no-cache-dir --no-deps --wheel-dir "$wheels" \
        "$from" "$from/packages/meteor" "$from/packages/server"
else
    python3 -m pip download --quiet --no-cache-dir --no-deps --only-binary :all: --dest "$wheels" \
        "sacrecap==$from" "sacrecap-server==$from" 'sacrecap-meteor>=1.5,<1.6'
fi
