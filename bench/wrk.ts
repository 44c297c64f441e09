import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A parameter that the node ignores. A different value makes a distinct request with the same response. */
export const UNUSED = "&unused=";

/** The result of a run of wrk (Debian's package of that name). */
export interface WrkRun {
  readonly requestsPerSec: number;
  readonly requests: number;
  /** Responses other than 2xx and 3xx, and failed sockets. */
  readonly errors: number;
}

/**
 * Loads a server from another process over `connections` connections. Each sends the next of `paths`, in a cycle, once its
 * last response has arrived.
 */
export async function runWrk(options: {
  readonly origin: string;
  readonly paths: readonly string[];
  readonly connections: number;
  readonly durationSecs: number;
  /** Makes each request distinct by appending `UNUSED` and a number. */
  readonly isUncached: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}): Promise<WrkRun> {
  const { origin, paths, connections, durationSecs, isUncached, headers = {} } = options;
  const script = join(tmpdir(), `wrk-${process.pid}-${performance.now()}.lua`);
  const list = paths.map((path) => JSON.stringify(path)).join(",\n");
  await Bun.write(
    script,
    `local paths = {${list}}
local at = 0
request = function()
  at = at + 1
  return wrk.format("GET", paths[at % #paths + 1]${isUncached ? ` .. "${UNUSED}" .. at` : ""})
end
`,
  );
  try {
    const sent = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const flags = ["-t1", `-c${connections}`, `-d${durationSecs}s`, ...sent, "-s", script, origin];
    const wrk = Bun.spawn(["wrk", ...flags], { stdout: "pipe", stderr: "inherit" });
    const text = await new Response(wrk.stdout).text();
    if ((await wrk.exited) !== 0) throw new Error(`wrk failed: ${text}`);
    const figure = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
    const sockets = /connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(text)?.slice(1) ?? [];
    return {
      requests: figure(/(\d+) requests in/),
      requestsPerSec: figure(/Requests\/sec:\s+([\d.]+)/),
      errors: figure(/Non-2xx or 3xx responses: (\d+)/) + sockets.reduce((sum, n) => sum + Number(n), 0),
    };
  } finally {
    rmSync(script, { force: true });
  }
}
