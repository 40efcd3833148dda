#!/bin/sh
# Installs the server from wheels into a new environment. usage: install.sh WHEELS ENVIRONMENT   (needs no compiler)
set -eu
wheels=$1 environment=$2
python3 -m venv "$environment"
"$environment/bin/python" -m pip install --quiet --no-cache-dir --find-links "$wheels" \
    'sacrecap[meteor]' sacrecap-server
"$environment/bin/sacrecap" serve --help >/dev/null
