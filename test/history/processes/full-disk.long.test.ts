import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mayOverlay } from "../../packaging/overlay.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { startDemoNode } from "../../support/demo-node.ts";
import { IS_LONG } from "../../support/long.ts";
import { tempDir } from "../../support/program.ts";

/** Runs a command with a file system of its own over a directory, which holds what the directory held. */
const onDiskOf = (size: string, dir: string, command: readonly string[]) => {
  const script =
    'dir="$1"; size="$2"; shift 2; cp -a "$dir" "$dir.kept"; mount -t tmpfs -o "size=$size" none "$dir"; cp -a "$dir.kept/." "$dir"; exec "$@"';
  return ["unshare", "-m", "sh", "-euc", script, "sh", dir, size, ...command];
};

describe.skipIf(!(await mayOverlay()))("console-next check 4: a history on a full disk", () => {
  test("keeps what it has and says once that it cannot be written, and continues once there is room", async () => {
    using dir = tempDir();
    const script = join(import.meta.dir, "full-disk-store.ts");
    const child = Bun.spawn(onDiskOf("1m", dir.path, [process.execPath, script, dir.path]), {
      stderr: "inherit",
    });
    const report = JSON.parse(await new Response(child.stdout).text());
    expect(await child.exited).toBe(0);
    expect(report.before).toEqual({ fault: null, minutes: 4 });
    expect(report.full.fault).toMatch(/full|disk/i);
    expect(report.full.minutes).toBeGreaterThanOrEqual(4);
    expect(report.after.fault).toBeNull();
    expect(report.after.minutes).toBeGreaterThan(report.full.minutes);
    expect(report.warnings).toBe(1);
  });

  test.skipIf(!IS_LONG)(
    "leaves a node that serves on, ready or not, and says why nothing is kept",
    async () => {
      using dir = tempDir();
      const dataDir = join(dir.path, "data");
      const node = await startDemoNode({ dataDir, command: onDiskOf("200m", dataDir, compiledProgram) });
      try {
        const status = async () =>
          ((await (await fetch(`${node.url}/status`)).json()) as { history: { fault: string | null } })
            .history;
        expect(await status()).toMatchObject({ fault: "the disk is nearly full" });
        expect((await fetch(`${node.url}/ready`)).status).toBe(200);
        expect(() =>
          writeFileSync(`/proc/${node.pid}/root${dataDir}/filler`, new Uint8Array(220_000_000)),
        ).toThrow("ENOSPC");
        for (const fid of [3, 4, 5])
          expect((await fetch(`${node.url}/v2/svc/user?fid=${fid}`)).status).toBe(200);
        expect(await status()).toMatchObject({ fault: "the disk is nearly full" });
        const lines = node.logs().split("\n");
        expect(lines.filter((line) => line.includes("A side file cannot be used"))).toHaveLength(1);
      } finally {
        await node.kill();
      }
    },
    180_000,
  );
});
