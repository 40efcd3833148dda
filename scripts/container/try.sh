#!/bin/sh
# Goes through the steps of the Containerfile in a plain folder, without a container engine: installs the wheels of DIST,
# starts the server as a user without rights, asks for its health, stops it. usage: try.sh DIST
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dist=$(cd "$1" && pwd)
folder=$(mktemp -d)
server=
cleanup() { test -z "$server" || kill "$server" 2>/dev/null || true; rm -rf "$folder"; }
trap cleanup EXIT

"$here/install.sh" "$dist" "$folder/environment"
mkdir "$folder/data"
cp "$here/check.py" "$folder/check.py"
"$here/secrets.sh" "$folder/secrets"
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')

as_user=
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$folder"
    chown -R nobody "$folder/data" "$folder/secrets"
    as_user="setpriv --reuid=nobody --clear-groups"
fi
cd "$folder/data"
export SACRECAP_DATABASE="sqlite:///$folder/data/sacrecap.db" SACRECAP_SECRET_KEY_FILE="$folder/secrets/secret_key"
export HOME="$folder/data"
export SACRECAP_PUBLIC_URL=https://evaluation.example.org SACRECAP_BEHIND_PROXY=127.0.0.1 SACRECAP_REGISTRATION=invitation
$as_user "$folder/environment/bin/sacrecap" serve --port "$port" &
server=$!

tries=0
until "$folder/environment/bin/python" "$folder/check.py" "http://127.0.0.1:$port/readyz" 2>/dev/null; do
    tries=$((tries + 1))
    kill -0 "$server" || { echo "the server ended before it was ready"; exit 1; }
    test "$tries" -lt 1200 || { echo "the server was not ready after ten minutes"; exit 1; }
    sleep 0.5
done
echo "ready, as user $(ps -o user= -p "$server")"
kill -TERM "$server"
wait "$server" || { status=$?; echo "the server ended with status $status"; exit 1; }
server=
echo "stopped"
