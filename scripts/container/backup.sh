#!/bin/sh
# A backup of the database into a folder each day, which keeps those of the last SACRECAP_BACKUP_DAYS days.
# usage: backup.sh FOLDER [once]
set -eu
while
  # Old ones go only where there is a new one.
  if sacrecap serve backup "$1/sacrecap-$(date -u +%Y-%m-%dT%H%M%SZ).gz"; then
    find "$1" -name 'sacrecap-*.gz' -mtime "+${SACRECAP_BACKUP_DAYS:-14}" -delete
    done=0
  else
    done=$?
  fi
  [ "${2:-}" != once ]
do sleep 86400; done
exit "$done"
