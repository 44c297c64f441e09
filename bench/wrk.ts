import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A parameter that nothing looks at; with another value it is another question with the same answer. */
export const UNUSED = "&unused=";

/** What a run of wrk (Debian's package of that name) tells. */
export interface WrkRun {
  readonly requestsPerSec: number;
  /** Answers that were no 2xx or 3xx, and sockets that failed. */
  readonly errors: number;
}

/**
 * Loads a server from another process: `connections` of them, each sending the next of `paths` when its last answer is
 * there. Paths go in turn, so that no answer is the one before.
 */
export async function runWrk(options: {
  readonly origin: string;
  readonly paths: readonly string[];
  readonly connections: number;
  readonly durationSecs: number;
  /** Makes each request another question, by a number behind `UNUSED` at its end. */
  readonly isAnew: boolean;
}): Promise<WrkRun> {
  const { origin, paths, connections, durationSecs, isAnew } = options;
  const script = join(tmpdir(), `wrk-${process.pid}-${performance.now()}.lua`);
  const list = paths.map((path) => JSON.stringify(path)).join(",\n");
  await Bun.write(
    script,
    `local paths = {${list}}
local at = 0
request = function()
  at = at + 1
  return wrk.format("GET", paths[at % #paths + 1]${isAnew ? ` .. "${UNUSED}" .. at` : ""})
end
`,
  );
  try {
    const flags = ["-t1", `-c${connections}`, `-d${durationSecs}s`, "-s", script, origin];
    const wrk = Bun.spawn(["wrk", ...flags], { stdout: "pipe", stderr: "inherit" });
    const text = await new Response(wrk.stdout).text();
    if ((await wrk.exited) !== 0) throw new Error(`wrk failed: ${text}`);
    const figure = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
    const sockets = /connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)?.slice(1) ?? [];
    return {
      requestsPerSec: figure(/Requests\/sec:\s+([\d.]+)/),
      errors: figure(/Non-2xx or 3xx responses: (\d+)/) + sockets.reduce((sum, n) => sum + Number(n), 0),
    };
  } finally {
    rmSync(script, { force: true });
  }
}
