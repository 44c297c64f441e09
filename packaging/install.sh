#!/bin/sh
# Installs svc: the program, its completions and manual page. As root on a machine with systemd, also its unit and user.
#
#   curl -fsSL <url>/install.sh | sh
#
# `sh install.sh --uninstall` removes what it has installed, but keeps settings and data.
#
# Variables: SVC_DOWNLOAD_URL (URL of the release files), SVC_VERSION (default: the release of this script),
# SVC_PREFIX (default: /usr/local as root, otherwise ~/.local), SVC_PUBLIC_KEY (minisign key; requires a signature).
set -eu
# Other users and the service must be able to read the installed files, whatever the caller's umask.
umask 022

DOWNLOAD_URL=""
VERSION=""
PUBLIC_KEY=""

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

need() {
  command -v "$1" > /dev/null || fail "it needs $1"
}

fetch() {
  case "$1" in
    https://*) redirects="=https" ;;
    http://127.0.0.1:* | http://localhost:* | file://*) redirects="=http,https" ;;
    *) fail "refuses to download over an insecure connection: $1" ;;
  esac
  if command -v curl > /dev/null; then
    curl -fsSL --proto-redir "$redirects" --retry 3 -o "$2" "$1" || fail "cannot download $1"
  else
    command -v wget > /dev/null || fail "it needs curl or wget"
    wget -qO "$2" "$1" || fail "cannot download $1"
  fi
}

target() {
  case "$(uname -s)" in
    Linux) system=linux ;;
    Darwin) system=darwin ;;
    *) fail "there is no release for $(uname -s)" ;;
  esac
  case "$(uname -m)" in
    x86_64 | amd64) machine=x64 ;;
    aarch64 | arm64) machine=arm64 ;;
    *) fail "there is no release for $(uname -m)" ;;
  esac
  libc=""
  # A glibc system may also have musl, but without the other libraries that a musl program needs.
  if [ "$system" = linux ] && ls /lib/ld-musl-* > /dev/null 2>&1 && ! getconf GNU_LIBC_VERSION > /dev/null 2>&1; then
    libc=-musl
  fi
  cpu=""
  # The default x64 program uses instructions that processors before 2013 do not have.
  if [ "$system-$machine" = linux-x64 ] && ! grep -qw avx2 /proc/cpuinfo; then cpu=-baseline; fi
  echo "$system-$machine$libc$cpu"
}

# Installs a unit, but keeps an edited one, which is neither identical to the unit of this release nor, byte for byte, to the one
# that an installer wrote and recorded.
install_unit() {
  unit=/etc/systemd/system/$1
  written=$prefix/share/svc/$1
  mkdir -p "$(dirname "$written")"
  if [ -e "$unit" ] && ! cmp -s "$unit" "$from/$1" && ! cmp -s "$unit" "$written"; then
    cp "$from/$1" "$unit.new"
    echo "Kept $unit, which differs from the one of a release. The new one is $unit.new."
  else
    cp "$from/$1" "$unit"
    rm -f "$unit.new"
  fi
  cp "$from/$1" "$written"
}

# Verifies the signature of the checksums if possible. Without it, the checksums are only as trustworthy as the files.
check_signature() {
  key=${SVC_PUBLIC_KEY:-$PUBLIC_KEY}
  [ -n "$key" ] || return 0
  if ! command -v minisign > /dev/null; then
    [ -z "${SVC_PUBLIC_KEY:-}" ] || fail "it needs minisign to check the signature"
    echo "The signature of the release was not checked: minisign is not installed."
    return 0
  fi
  fetch "$url/SHA256SUMS.minisig" "$work/SHA256SUMS.minisig"
  minisign -Vq -P "$key" -m "$work/SHA256SUMS" -x "$work/SHA256SUMS.minisig" > /dev/null 2>&1 ||
    fail "the signature of SHA256SUMS is wrong: nothing was installed"
}

choose_prefix() {
  if [ "$(id -u)" = 0 ]; then prefix=${SVC_PREFIX:-/usr/local}; else prefix=${SVC_PREFIX:-$HOME/.local}; fi
}

# Removes what this script has installed, but keeps an edited unit, settings, data and the user.
uninstall() {
  choose_prefix
  [ -e "$prefix/bin/svc" ] || fail "there is no $prefix/bin/svc"
  kept=""
  for name in svc.service svc@.service; do
    unit=/etc/systemd/system/$name
    written=$prefix/share/svc/$name
    [ -e "$written" ] || continue
    if [ -d /run/systemd/system ]; then
      case "$name" in
        *@*) systemctl disable --now "svc@*.service" > /dev/null 2>&1 || true ;;
        *) systemctl disable --now "$name" > /dev/null 2>&1 || true ;;
      esac
    fi
    if cmp -s "$unit" "$written"; then rm -f "$unit" "$unit.new"; elif [ -e "$unit" ]; then kept="$kept $unit"; fi
    rm -f "$written"
  done
  rm -f "$prefix/bin/svc" "$prefix/share/man/man1/svc.1" "$prefix/share/bash-completion/completions/svc" \
    "$prefix/share/zsh/site-functions/_svc" "$prefix/share/fish/vendor_completions.d/svc.fish"
  rmdir "$prefix/share/svc" 2> /dev/null || true
  if [ -d /run/systemd/system ] && [ "$(id -u)" = 0 ]; then systemctl daemon-reload; fi
  for path in /etc/svc /var/lib/svc; do if [ -e "$path" ] && [ "$prefix" = /usr/local ]; then kept="$kept $path"; fi; done
  echo "Removed $prefix/bin/svc.${kept:+ Kept:$kept}"
}

verify() {
  if command -v sha256sum > /dev/null; then
    sha256sum -c - > /dev/null
  else
    shasum -a 256 -c - > /dev/null
  fi
}

main() {
  case "${1:-}" in
    "") ;;
    --uninstall) uninstall && return ;;
    *) fail "unknown option: $1" ;;
  esac
  url=${SVC_DOWNLOAD_URL:-$DOWNLOAD_URL}
  version=${SVC_VERSION:-$VERSION}
  [ -n "$url" ] || fail "set SVC_DOWNLOAD_URL to the folder of the release"
  need tar
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # A signal would end the shell without running the EXIT trap above.
  trap 'exit 130' HUP INT TERM
  fetch "$url/SHA256SUMS" "$work/SHA256SUMS"
  check_signature

  file="svc-$version-$(target).tar.gz"
  line=$(grep "  $file\$" "$work/SHA256SUMS") || fail "the release has no $file"
  fetch "$url/$file" "$work/$file"
  (cd "$work" && echo "$line" | verify) || fail "the checksum of $file is wrong: nothing was installed"
  tar -C "$work" -xzf "$work/$file"
  from="$work/svc-$version-$(target)"

  choose_prefix
  mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
    "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
  # The file of a running program cannot be overwritten, but it can be replaced by a rename.
  cp "$from/svc" "$prefix/bin/svc.new"
  chmod 755 "$prefix/bin/svc.new"
  # A program that does not start on this machine must not replace one that does.
  if ! "$prefix/bin/svc.new" version > /dev/null; then
    rm -f "$prefix/bin/svc.new"
    fail "the program does not start on this machine: nothing was installed"
  fi
  mv -f "$prefix/bin/svc.new" "$prefix/bin/svc"
  cp "$from/svc.1" "$prefix/share/man/man1/svc.1"
  cp "$from/completions/svc.bash" "$prefix/share/bash-completion/completions/svc"
  cp "$from/completions/_svc" "$prefix/share/zsh/site-functions/_svc"
  cp "$from/completions/svc.fish" "$prefix/share/fish/vendor_completions.d/svc.fish"
  echo "Installed $prefix/bin/svc ($version)."

  if [ "$(id -u)" = 0 ] && [ "$prefix" = /usr/local ] && [ -d /run/systemd/system ]; then
    if ! getent passwd svc > /dev/null; then
      useradd --system --home-dir /var/lib/svc --no-create-home --shell /usr/sbin/nologin svc
    fi
    install_unit svc.service
    install_unit svc@.service
    mkdir -p /etc/svc
    [ -e /etc/svc/svc.toml ] || cp "$from/svc.toml" /etc/svc/svc.toml
    # Owner of the secrets that svc init writes.
    [ -d /var/lib/svc ] || install -d -m 0700 -o svc -g svc /var/lib/svc
    systemctl daemon-reload
    if systemctl is-active --quiet svc; then
      echo "The former release still runs. To change over: systemctl restart svc"
    else
      echo "Choose the users that it serves: svc init --output /etc/svc/svc.toml --force"
      echo "Then: svc doctor, systemctl enable --now svc"
    fi
  else
    echo "Try it: $prefix/bin/svc serve --demo. For your own node: $prefix/bin/svc init"
  fi
  case ":$PATH:" in
    *":$prefix/bin:"*) ;;
    *) echo "$prefix/bin is not in PATH." ;;
  esac
}

main "$@"
