import { afterAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildDeb } from "../../packaging/deb.ts";
import { accountRecords, startTestNode } from "../support/node.ts";
import { writeOlderIndex } from "../support/older-index.ts";
import { mayOverlay, runInOverlay } from "./overlay.ts";
import { writePackagedProgram } from "./packaged-program.ts";

const canRun = Bun.which("dpkg-deb") !== null && (await mayOverlay());
if (!canRun) console.warn("The Debian package is not tried: that needs dpkg and the right to mount.");

const folder = mkdtempSync(join(tmpdir(), "svc-deb-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = writePackagedProgram(join(folder, "program"));

async function packageOf(packageVersion: string): Promise<string> {
  return await buildDeb({
    binary: program,
    architecture: process.arch === "arm64" ? "arm64" : "amd64",
    outdir: folder,
    date: "2026-11-22",
    compressed: false,
    packageVersion,
  });
}

/** As systemd would start it, on a port of its own: as the user of the unit, with the settings of the package. */
const SERVE = `
as_svc="setpriv --reuid svc --regid svc --clear-groups env SVC_HUB_PORT=0 SVC_HTTP_PORT=0"
start() {
  cd /
  : > /tmp/svc.out
  $as_svc /usr/bin/svc serve --migrate > /tmp/svc.out 2> /tmp/svc.log & pid=$!
  for i in $(seq 100); do
    url=$(sed -n 's/.*"api":"\\([^"]*\\)".*/\\1/p' /tmp/svc.out)
    if [ -n "$url" ]; then break; fi
    sleep 0.1
  done
  base=\${url%/v2/svc}
  /usr/bin/svc healthcheck --live "$base" > /dev/null && echo "alive"
}
# What docs/getting-started.md has after the settings, by somebody who is neither root nor the service.
as_user() {
  sed -i "s/^port = .*/port = \${base##*:}/" /etc/svc/svc.toml
  setpriv --reuid nobody --regid nogroup --clear-groups "$@"
}
stop() { kill -TERM $pid; wait $pid; echo "stopped $?"; }
`;

describe.skipIf(!canRun)("the Debian package", () => {
  test("does not restart a node whose index needs another format, and is refused without space for it", async () => {
    const [first, second] = [await packageOf("0.0.1"), await packageOf("0.0.2")];
    {
      using node = startTestNode();
      node.ingestAll(accountRecords(7, 10));
      writeOlderIndex(join(folder, "older.db"), node.db);
      node.db.checkpoint();
      copyFileSync(node.db.file, join(folder, "current.db"));
    }
    const { exitCode, out } = await runInOverlay(
      `rm -f /var/lib/man-db/auto-update
# What the scripts ask of systemd.
mkdir -p /run/systemd/system
printf '#!/bin/sh\\necho "$@" >> /tmp/asked\\n' > /usr/bin/deb-systemd-invoke
cp /bin/true /usr/bin/systemctl
install() { echo "-- $1"; : > /tmp/asked; dpkg -i "$2" 2>&1 | grep -o '^svc was.*\\|svc: this release.*' || true; cat /tmp/asked; }
install new ${first}
install upgrade ${second}
cp ${join(folder, "current.db")} /var/lib/svc/index.db
install "with this format" ${first}
cp ${join(folder, "older.db")} /var/lib/svc/index.db
install "with another format" ${second}
# A file with a hole has the size of its end.
truncate -s 8T /var/lib/svc/index.db
install "without space" ${first}
dpkg-query -W -f '\${Version}\n' svc`,
      folder,
    );
    expect(out.trim().split("\n")).toEqual([
      "-- new",
      "start svc.service",
      "-- upgrade",
      "restart svc.service",
      "-- with this format",
      "restart svc.service",
      "-- with another format",
      "svc was not restarted: its next start builds the index in a new format, and serves nothing until that is done.",
      "-- without space",
      expect.stringMatching(
        /^svc: this release builds the index in a new format, which needs 5[.\d]+ MiB of free space in \/var\/lib\/svc\. There are \d+ MiB\. Nothing was changed/,
      ),
      "0.0.2",
    ]);
    expect(exitCode).toBe(0);
  }, 180_000);

  test("installs, serves as its user, upgrades with data and settings kept, and is removed without the data", async () => {
    const [first, second] = [await packageOf("0.0.1"), await packageOf("0.0.2")];
    const { exitCode, out } = await runInOverlay(
      `${SERVE}
# Indexing all manual pages of this machine takes longer than all else.
rm -f /var/lib/man-db/auto-update
dpkg -i ${first} > /dev/null
id -un svc
stat -c '%U %a' /var/lib/svc; stat -c '%U %G %a' /etc/svc/svc.toml
start
as_user svc healthcheck --live 2>&1
as_user svc healthcheck 2>&1 | grep -o 'responded.*init'
chmod 640 /etc/svc/svc.toml
as_user svc --port "\${base##*:}" healthcheck --live 2> /tmp/warned; grep -o 'cannot be read.*apply' /tmp/warned
chmod 644 /etc/svc/svc.toml
stop
stat -c '%U' /var/lib/svc/index.db
sed -i 's/^port = .*/port = 9090/' /etc/svc/svc.toml
dpkg -i ${second} > /dev/null
grep '^port' /etc/svc/svc.toml
dpkg-query -W -f '\${Version}\\n' svc
start; stop
man -w svc
dpkg -r svc > /dev/null 2>&1
ls /usr/bin/svc 2> /dev/null || echo "program gone"
ls /etc/svc/svc.toml /var/lib/svc/state.db
dpkg -P svc 2>&1 | grep 'The data stays'
ls /etc/svc/svc.toml 2> /dev/null || echo "settings gone"
ls /var/lib/svc/state.db`,
      folder,
    );
    expect(
      out
        .split("\n")
        .filter((line) => !/^(\(Reading|Not building database|debconf|dpkg: |Created symlink)/.test(line)),
    ).toEqual([
      "svc",
      "svc 700",
      "root root 644",
      "alive",
      expect.stringContaining('"file":"/etc/svc/svc.toml","msg":"Read the settings"'),
      '200 {"status":"ok"}',
      'responded 503 {"message":"not_set_up: the node has no data and follows no node; svc init',
      '200 {"status":"ok"}',
      "cannot be read: EACCES: permission denied, open '/etc/svc/svc.toml'; the defaults apply",
      "stopped 0",
      "svc",
      "port = 9090",
      "0.0.2",
      "alive",
      "stopped 0",
      "/usr/share/man/man1/svc.1.gz",
      "program gone",
      "/etc/svc/svc.toml",
      "/var/lib/svc/state.db",
      "The data stays in /var/lib/svc. Delete that directory if nobody needs it.",
      "settings gone",
      "/var/lib/svc/state.db",
      "",
    ]);
    expect(exitCode).toBe(0);
  }, 180_000);
});
