import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Boots systemd as the first process of a container: this machine's files with a writable layer, processes, network and host name
 * of its own. Its one unit runs `/bin/bash` with a script, then it powers off.
 */
const BOOT = `
set -e
mount --make-rprivate /
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
root="$1/root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs none "$root/dev"
for device in null zero random urandom full tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts" "$root/dev/mqueue" "$root/dev/hugepages"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
touch "$root/dev/console"
mount -t tmpfs none "$root/run"
mount -t tmpfs none "$root/tmp"
mkdir -p "$root/shared"
mount --bind "$2" "$root/shared"
ip link set lo up
rm -f "$root/etc/resolv.conf"
echo "127.0.0.1 localhost" > "$root/etc/hosts"
cat > "$root/etc/systemd/system/script.service" <<UNIT
[Service]
Type=oneshot
TimeoutStartSec=600
Environment=PATH=/shared:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive HOME=/root
WorkingDirectory=/shared
ExecStart=/bin/bash -eu /shared/script
ExecStopPost=/usr/bin/systemctl poweroff --force --force
StandardOutput=append:/shared/out
StandardError=append:/shared/out
UNIT
rm -f "$root/usr/sbin/policy-rc.d"
mkdir "$root/former"
cd "$root"
# The mount namespaces of units need a root that is one of a mount, which a chroot is not.
pivot_root . former
umount -l /former
exec env -i container=svc-test /lib/systemd/systemd --system --unit=script.service
`;

const CAPSULE = [
  "unshare",
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  "--uts",
  "--ipc",
  "--cgroup",
  "--net",
];

/**
 * Runs a script as root on such a machine.
 *
 * @param shared a folder that the machine has as /shared, which is its working directory and the first of its PATH.
 * @returns what the script wrote.
 */
export async function runOnMachine(script: string, shared: string): Promise<string> {
  const mountPoint = mkdtempSync(join(tmpdir(), "svc-machine-"));
  const out = Bun.file(join(shared, "out"));
  await Promise.all([Bun.write(join(shared, "script"), script), Bun.write(out, "")]);
  try {
    const child = Bun.spawn([...CAPSULE, "sh", "-c", BOOT, "sh", mountPoint, shared], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "pipe",
    });
    const [faults] = await Promise.all([new Response(child.stderr).text(), child.exited]);
    return `${await out.text()}${faults}`;
  } finally {
    rmSync(mountPoint, { recursive: true, force: true });
  }
}

/** Whether this machine has systemd, and lets a test boot it. */
export async function mayBoot(): Promise<boolean> {
  if (process.getuid?.() !== 0 || !Bun.which("unshare") || !existsSync("/lib/systemd/systemd")) return false;
  const shared = mkdtempSync(join(tmpdir(), "svc-boot-"));
  try {
    return (await runOnMachine("echo booted", shared)).startsWith("booted");
  } finally {
    rmSync(shared, { recursive: true, force: true });
  }
}
