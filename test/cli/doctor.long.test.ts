import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { Server, ServerCredentials, type sendUnaryData, status } from "@grpc/grpc-js";
import { HubServiceService } from "../../src/protocol/wire/generated/hub.ts";
import { mayOverlay } from "../packaging/overlay.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { startNode, tempDir } from "../support/program.ts";
import { type Ended, emptyDir, run } from "./run.ts";

const levelsOf = ({ out }: Ended): Record<string, string> =>
  Object.fromEntries(
    (JSON.parse(out).findings as { check: string; level: string }[]).map(({ check, level }) => [
      check,
      level,
    ]),
  );

/** Free ports, which no other test uses. */
const PORTS = ["--port", "0", "--set", "hub.port=0"];

const mayMount = await mayOverlay();

describe("svc doctor", () => {
  test("with a low limit of open files fails with exit code 1, in lines and as JSON", async () => {
    using dir = emptyDir();
    const place = { cwd: dir.path, through: ["bash", "-c", 'ulimit -n 200; exec "$@"', "bash"] };
    // One after the other: each creates the data directory to measure its disk, and deletes it.
    const lines = await run(["doctor", ...PORTS], place);
    const json = await run(["doctor", "--json", ...PORTS], place);
    expect([lines.exitCode, json.exitCode]).toEqual([1, 1]);
    expect(lines.out).toContain(
      "FAIL  open files: a process started here may open 200 files\n      Raise it: LimitNOFILE=65536",
    );
    expect(JSON.parse(json.out).ok).toBe(false);
    expect(levelsOf(json)).toMatchObject({ "open files": "fail", "data directory": "ok" });
  });

  test("with settings that are not valid names each, and checks nothing else", async () => {
    const ended = await run(["doctor", "--json", "--set", "http.port=x", "--set", "hub.port=y"]);
    expect(ended.exitCode).toBe(1);
    expect(JSON.parse(ended.out).findings.map(({ text }: { text: string }) => text)).toEqual([
      expect.stringContaining("http.port must be an integer"),
      expect.stringContaining("hub.port must be an integer"),
    ]);
  });

  test("shows what the followed node says on one line, so that it cannot write findings", async () => {
    const server = new Server();
    const details = "later\nok    followed node: \u001b[32mfine";
    server.addService(HubServiceService, {
      getInfo: (_: unknown, callback: sendUnaryData<never>) =>
        callback({ code: status.UNAVAILABLE, details }),
    });
    const port = await new Promise<number>((resolve, reject) =>
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (cause, bound) =>
        cause ? reject(cause) : resolve(bound),
      ),
    );
    const ended = await run(["doctor", ...PORTS, "--set", `upstream.url=http://127.0.0.1:${port}`]);
    server.forceShutdown();
    expect(ended.exitCode).toBe(1);
    expect(ended.out).toContain("UNAVAILABLE: later\\u000aok    followed node: \\u001b[32mfine");
  });

  test("finds a running node by the lock of its data directory, and asks whether it is ready", async () => {
    using dir = tempDir();
    await using node = await startNode({ command: compiledProgram, dataDir: dir.path, demo: true });
    const port = new URL(node.url).port;
    const ended = await run([
      "doctor",
      "--json",
      "--data-dir",
      dir.path,
      "--port",
      port,
      "--set",
      "hub.port=0",
    ]);
    expect({ exitCode: ended.exitCode, errors: ended.errors }).toEqual({ exitCode: 0, errors: "" });
    expect(levelsOf(ended)).toMatchObject({ "running node": "ok", "open files": "ok" });
  }, 180_000);

  // A full disk, one that is mounted for reading, and the directory of another user, for real.
  test.skipIf(!mayMount)("on a disk that is full, read-only or of another user fails", async () => {
    using dir = emptyDir();
    chmodSync(dir.path, 0o755);
    const on = (prepare: string, as = "") =>
      run(["doctor", "--json", "--data-dir", `${dir.path}/data`, ...PORTS], {
        cwd: "/",
        through: [
          "unshare",
          "-m",
          "sh",
          "-c",
          // The other user may not enter the directory of the program.
          `mkdir -p ${dir.path}/data; ${prepare}; touch ${dir.path}/svc; mount --bind "$1" ${dir.path}/svc; shift; exec ${as} ${dir.path}/svc "$@"`,
          "sh",
        ],
      });
    const tmpfs = (more: string) => `mount -t tmpfs -o size=1m${more} none ${dir.path}/data`;
    const [full, readOnly, foreign] = await Promise.all([
      on(`${tmpfs("")}; dd if=/dev/zero of=${dir.path}/data/filler bs=64k 2>/dev/null || true`),
      on(`${tmpfs(",ro")}`),
      on(`${tmpfs(",mode=755")}`, "setpriv --reuid 65534 --regid 65534 --clear-groups"),
    ]);
    expect([full.exitCode, readOnly.exitCode, foreign.exitCode]).toEqual([1, 1, 1]);
    expect(levelsOf(full)).toMatchObject({ "disk space": "warn", "disk speed": "fail" });
    expect(levelsOf(readOnly)).toMatchObject({ "data directory": "fail" });
    expect(levelsOf(foreign)).toMatchObject({ "data directory": "fail", "disk speed": "fail" });
    expect(readOnly.out).toContain("cannot be written: ");
  });

  // It takes the time that a file system is given to respond.
  test.skipIf(!mayMount || !IS_LONG || !existsSync("/dev/fuse"))(
    "on a file system that never responds says so and ends",
    async () => {
      using dir = emptyDir();
      const script = join(import.meta.dir, "processes/silent-file-system.ts");
      const serve = `mkdir "$1/fs"; mkfifo "$1/ready"; "$2" "$3" "$1/fs" > "$1/ready" & read line < "$1/ready"; hung=$!`;
      const ended = await run(["doctor", "--json", "--data-dir", `${dir.path}/fs/data`, ...PORTS], {
        cwd: "/",
        through: [
          "unshare",
          "-m",
          "sh",
          "-c",
          `${serve}; shift 3; timeout 60 "$@"; code=$?; kill $hung; exit $code`,
          "sh",
          dir.path,
          process.execPath,
          script,
        ],
      });
      expect(ended.exitCode).toBe(1);
      expect(ended.out).toContain("is on a file system that does not respond");
    },
    180_000,
  );
});
