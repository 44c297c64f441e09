#!/bin/sh
# Creates the root of the container image: the C library that the program is linked with, and the folders that it needs.
# Usage: image-root.sh <folder>
set -eu

root=$1
libraries=/lib/$(uname -m)-linux-gnu
case "$(uname -m)" in
  x86_64) loader=/lib64/ld-linux-x86-64.so.2 ;;
  aarch64) loader=/lib/ld-linux-aarch64.so.1 ;;
  *) echo "image-root.sh: there is no image for $(uname -m)" >&2 && exit 1 ;;
esac

mkdir -p "$root$libraries" "$root$(dirname "$loader")" "$root/usr/bin" "$root/etc" "$root/data" "$root/tmp"
cp -L "$loader" "$root$loader"
for library in libc.so.6 libpthread.so.0 libdl.so.2 libm.so.6; do
  cp -L "$libraries/$library" "$root$libraries/$library"
done
echo "svc:x:65532:65532:svc:/data:/sbin/nologin" > "$root/etc/passwd"
echo "svc:x:65532:" > "$root/etc/group"
chmod 1777 "$root/tmp"
chmod 700 "$root/data"
chown 65532:65532 "$root/data"
