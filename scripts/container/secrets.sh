#!/bin/sh
# Makes the secrets of compose.yaml in the folder secrets/, once. usage: secrets.sh [FOLDER]
set -eu
folder=${1:-secrets}
mkdir -m 700 "$folder" || { echo "$folder: the secrets are made once; a database keeps the password it was made with"; exit 1; }
random() { python3 -c 'import secrets; print(secrets.token_urlsafe(48))'; }
random >"$folder/secret_key"
random >"$folder/database_password"
echo "postgresql://sacrecap:$(cat "$folder/database_password")@database/sacrecap" >"$folder/database_url"
# Of the mail server and of a provider to sign in at: write them in, if there are any.
touch "$folder/smtp_password" "$folder/oidc_client_secret"
# The server reads them as a user of its own; the folder keeps everybody else out.
chmod 444 "$folder"/*
