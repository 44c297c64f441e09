import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A script that sees this machine's files with a writable layer of its own; what it changes is discarded with it. */
const ENTER = `
set -e
mount -t tmpfs none "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --bind /proc "$1/root/proc"
mount --bind /dev "$1/root/dev"
mkdir -p "$1/root$2"
mount --bind "$2" "$1/root$2"
exec chroot "$1/root" sh -euc "$3"
`;

export interface ScriptResult {
  readonly exitCode: number;
  readonly out: string;
}

/** Runs a shell script as root in such a view of the machine. `shared` is a folder that both see. */
export async function runInOverlay(script: string, shared: string): Promise<ScriptResult> {
  const mountPoint = mkdtempSync(join(tmpdir(), "svc-overlay-"));
  mkdirSync(mountPoint, { recursive: true });
  try {
    const child = Bun.spawn(
      ["unshare", "-m", "sh", "-c", `exec 2>&1; ${ENTER}`, "sh", mountPoint, shared, script],
      {
        env: {
          PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
          DEBIAN_FRONTEND: "noninteractive",
        },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "inherit",
      },
    );
    const [out, exitCode] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    return { exitCode, out };
  } finally {
    rmSync(mountPoint, { recursive: true, force: true });
  }
}

/** Whether this machine lets a test have such a view: root with the right to mount. */
export async function mayOverlay(): Promise<boolean> {
  if (process.getuid?.() !== 0 || !Bun.which("unshare")) return false;
  return (await runInOverlay("true", tmpdir())).exitCode === 0;
}
