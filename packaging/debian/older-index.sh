# Reports whether the index has an older format, which this release rebuilds. The first pages of the file contain its schema.
has_older_index() {
  [ -s /var/lib/svc/index.db ] || return 1
  head -c 8388608 /var/lib/svc/index.db | grep -aq 'CREATE TABLE .messages.' || return 1
  ! head -c 8388608 /var/lib/svc/index.db | grep -aq message_signers
}
