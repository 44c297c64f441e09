# Whether the index has a format that this release builds anew. Its schema is in its first pages.
has_older_index() {
  [ -s /var/lib/svc/index.db ] || return 1
  head -c 8388608 /var/lib/svc/index.db | grep -aq 'CREATE TABLE .messages.' || return 1
  ! head -c 8388608 /var/lib/svc/index.db | grep -aq message_signers
}
