import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./documents.ts";
import type { RunningNode } from "./program.ts";

const MONITORING = join(ROOT, "packaging/monitoring");
const INTERVAL_MS = 200;

interface Rule {
  readonly name: string;
  readonly health: string;
  readonly state: string;
}

/** A series of a range of time. */
export interface RangeSeries {
  readonly labels: Readonly<Record<string, string>>;
  /** Unix seconds and value. */
  readonly points: readonly (readonly [atSecs: number, value: number])[];
}

/** A Prometheus with the rules of this project. */
export interface RunningPrometheus {
  /** Waits until each node was scraped `count` times more. */
  scrapes(count: number): Promise<void>;
  /** Whether an expression has a value that is a number. */
  hasData(expr: string): Promise<boolean>;
  /** The values of an expression in the last seconds, one a second, without those that are not numbers. */
  range(expr: string, secs: number): Promise<readonly RangeSeries[]>;
  rules(): Promise<readonly Rule[]>;
  /** The alerts that fire, as `instance: name`, sorted and each once. */
  firing(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/**
 * Starts the installed Prometheus over `nodes`, by the name of their `instance`. Its data is below `parent`. An impatient one lets
 * alerts fire after a second whose rules wait for seconds or minutes.
 */
export async function startPrometheus(
  parent: string,
  nodes: Readonly<Record<string, Pick<RunningNode, "url">>>,
  { isImpatient = false }: { readonly isImpatient?: boolean } = {},
): Promise<RunningPrometheus> {
  const dir = join(parent, "prometheus");
  mkdirSync(dir);
  const rules = await Bun.file(join(MONITORING, "rules.yml")).text();
  await Bun.write(
    join(dir, "rules.yml"),
    isImpatient ? rules.replaceAll(/ for: \d+[sm]$/gm, " for: 1s") : rules,
  );
  const targets = Object.entries(nodes).map(
    ([name, { url }]) => `      - targets: ["${new URL(url).host}"]\n        labels: { instance: ${name} }`,
  );
  const config = (await Bun.file(join(MONITORING, "prometheus.yml")).text())
    .replaceAll("interval: 15s", `interval: ${INTERVAL_MS}ms`)
    .replace(/^ +- targets: .*$/m, targets.join("\n"));
  await Bun.write(join(dir, "prometheus.yml"), config);
  const args = [
    "--config.file=prometheus.yml",
    "--storage.tsdb.path=data",
    "--web.listen-address=127.0.0.1:0",
  ];
  const child = Bun.spawn(["prometheus", ...args], { cwd: dir, stdout: "ignore", stderr: "pipe" });
  const origin = `http://${await addressIn(child.stderr)}`;
  // It responds with 503 while it starts.
  while ((await fetch(`${origin}/-/ready`)).status !== 200) await Bun.sleep(50);

  const ask = async <T>(path: string, parameters: Record<string, string> = {}): Promise<T> => {
    const response = await fetch(`${origin}/api/v1/${path}?${new URLSearchParams(parameters)}`);
    const { status, data, error } = (await response.json()) as { status: string; data: T; error?: string };
    if (status !== "success") throw new Error(`${parameters.query}: ${error}`);
    return data;
  };
  const values = async (query: string) => {
    const { result } = await ask<{ result: { value: [number, string] }[] }>("query", { query });
    return result.map(({ value: [, value] }) => Number(value));
  };
  return {
    async scrapes(count) {
      const scraped = () => values('count_over_time(up{job="svc"}[1h])');
      const before = await scraped();
      const most = Math.max(0, ...before);
      const nodesOf = Object.keys(nodes).length;
      for (let now = before; now.length < nodesOf || Math.min(...now) < most + count; now = await scraped())
        await Bun.sleep(INTERVAL_MS / 3);
    },
    hasData: async (expr) => (await values(expr)).some((value) => !Number.isNaN(value)),
    async range(expr, secs) {
      const end = Date.now() / 1000;
      const { result } = await ask<{
        result: { metric: Record<string, string>; values: [number, string][] }[];
      }>("query_range", { query: expr, start: String(end - secs), end: String(end), step: "1" });
      return result.map(({ metric: { __name__, ...labels }, values: found }) => ({
        labels,
        points: found
          .map(([at, value]) => [at, Number(value)] as const)
          .filter(([, value]) => Number.isFinite(value)),
      }));
    },
    rules: async () =>
      (await ask<{ groups: { rules: Rule[] }[] }>("rules")).groups.flatMap(({ rules }) => rules),
    async firing() {
      const { alerts } = await ask<{
        alerts: { state: string; labels: { alertname: string; instance: string } }[];
      }>("alerts");
      const names = alerts
        .filter(({ state }) => state === "firing")
        .map(({ labels }) => `${labels.instance}: ${labels.alertname}`);
      return [...new Set(names)].sort();
    },
    async stop() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

/** The address that Prometheus logs when it listens; the rest of the log is read and dropped. */
async function addressIn(log: ReadableStream<Uint8Array>): Promise<string> {
  const listening = Promise.withResolvers<string>();
  void (async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of log) {
      if (text.length < 100_000) text += decoder.decode(chunk, { stream: true });
      const [, address] = /msg="Listening on" address=(127\.0\.0\.1:\d+)/.exec(text) ?? [];
      if (address) listening.resolve(address);
    }
    listening.reject(new Error(`Prometheus ended: ${text}`));
  })().catch(listening.reject);
  return await listening.promise;
}
