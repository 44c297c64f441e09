#!/bin/sh
# Installs svc: the program, its completions and manual page. As root on a machine with systemd also its unit and user.
#
#   curl -fsSL <url>/install.sh | sh
#
# Variables: SVC_DOWNLOAD_URL (where the files of the release are), SVC_VERSION (default: the one of this script's release),
# SVC_PREFIX (default /usr/local as root, else ~/.local).
set -eu
# Other users and the service read what is installed, whatever the umask of the caller.
umask 022

DOWNLOAD_URL=""
VERSION=""

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
  # A system with glibc may have musl, too, but not the other libraries that a program for musl needs.
  if [ "$system" = linux ] && ls /lib/ld-musl-* > /dev/null 2>&1 && ! getconf GNU_LIBC_VERSION > /dev/null 2>&1; then
    libc=-musl
  fi
  cpu=""
  # The usual program for x64 uses instructions that processors from before 2013 do not have.
  if [ "$system-$machine" = linux-x64 ] && ! grep -qw avx2 /proc/cpuinfo; then cpu=-baseline; fi
  echo "$system-$machine$libc$cpu"
}

# Puts the unit into its folder. An edited one stays: it is neither the one of this release nor, byte for byte, the one
# that an installer wrote and noted.
install_unit() {
  unit=/etc/systemd/system/svc.service
  written=$prefix/share/svc/svc.service
  mkdir -p "$(dirname "$written")"
  if [ -e "$unit" ] && ! cmp -s "$unit" "$from/svc.service" && ! cmp -s "$unit" "$written"; then
    cp "$from/svc.service" "$unit.new"
    echo "Kept $unit, which differs from the one of a release. The new one is $unit.new."
  else
    cp "$from/svc.service" "$unit"
    rm -f "$unit.new"
  fi
  cp "$from/svc.service" "$written"
}

verify() {
  if command -v sha256sum > /dev/null; then
    sha256sum -c - > /dev/null
  else
    shasum -a 256 -c - > /dev/null
  fi
}

main() {
  url=${SVC_DOWNLOAD_URL:-$DOWNLOAD_URL}
  version=${SVC_VERSION:-$VERSION}
  [ -n "$url" ] || fail "set SVC_DOWNLOAD_URL to the folder of the release"
  need tar
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  # A shell that a signal ends does not run the line above by itself.
  trap 'exit 130' HUP INT TERM
  fetch "$url/SHA256SUMS" "$work/SHA256SUMS"

  file="svc-$version-$(target).tar.gz"
  line=$(grep "  $file\$" "$work/SHA256SUMS") || fail "the release has no $file"
  fetch "$url/$file" "$work/$file"
  (cd "$work" && echo "$line" | verify) || fail "the checksum of $file is wrong: nothing was installed"
  tar -C "$work" -xzf "$work/$file"
  from="$work/svc-$version-$(target)"

  if [ "$(id -u)" = 0 ]; then prefix=${SVC_PREFIX:-/usr/local}; else prefix=${SVC_PREFIX:-$HOME/.local}; fi
  mkdir -p "$prefix/bin" "$prefix/share/man/man1" "$prefix/share/bash-completion/completions" \
    "$prefix/share/zsh/site-functions" "$prefix/share/fish/vendor_completions.d"
  # A running program cannot be written to, but its name can be given to another file.
  cp "$from/svc" "$prefix/bin/svc.new"
  chmod 755 "$prefix/bin/svc.new"
  # A program that does not start here must not replace one that does.
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
    install_unit
    mkdir -p /etc/svc
    [ -e /etc/svc/svc.toml ] || cp "$from/svc.toml" /etc/svc/svc.toml
    # Whose the secrets are that svc init writes.
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

main
