/**
 * Runs what all browser tests of one process share: `bun keeper.ts <pid> browser|node`. It writes the address as a line when it can be
 * used, and ends with the process of the tests, whose files it removes.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findChromium } from "./chromium.ts";

const POLL_MS = 250;
/** The sandbox does not start as root or in most containers; the tests open only pages of this project. */
const CHROMIUM_FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-default-apps",
  "--disable-extensions",
  "--disable-features=Translate,MediaRouter,OptimizationHints",
  "--disable-sync",
  "--hide-scrollbars",
  "--lang=en-US",
  "--mute-audio",
  "--no-default-browser-check",
  "--no-first-run",
  "--password-store=basic",
  "--remote-debugging-port=0",
];
/** For the demo node: what tests of many people at once need. */
const NODE_SETTINGS = [
  "http.workers=4",
  "stream.max_connections_per_ip=1000",
  `signers.encryption_key=${"5a".repeat(32)}`,
];

const parent = Number(process.argv[2]);
const dir = mkdtempSync(join(tmpdir(), "svc-browser-"));
const { address, end } = await (process.argv[3] === "browser" ? startChromium() : startDemo());
const endAll = async () => {
  await end();
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  process.exit();
};
process.on("SIGTERM", endAll);
setInterval(() => {
  if (!isAlive(parent)) void endAll();
}, POLL_MS);
process.stdout.write(`${address}\n`);

async function startChromium() {
  const found = await findChromium();
  if ("why" in found) throw new Error(found.why);
  const child = Bun.spawn([found.path, ...CHROMIUM_FLAGS, `--user-data-dir=${dir}/profile`, "about:blank"], {
    env: { PATH: process.env.PATH ?? "", HOME: dir, TMPDIR: dir, ...found.env },
    stdout: "ignore",
    stderr: "pipe",
  });
  const listening = Promise.withResolvers<string>();
  const read = async () => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      // It reports what the machine lacks, without end.
      text = (text + decoder.decode(chunk, { stream: true })).slice(-20_000);
      const [, url] = /DevTools listening on (ws:\S+)/.exec(text) ?? [];
      if (url) listening.resolve(url);
    }
    listening.reject(new Error(`Chromium ended: ${text}`));
  };
  void read();
  return {
    address: await listening.promise,
    async end() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
}

async function startDemo() {
  const { startDemoNode } = await import("../../support/demo-node.ts");
  const args = NODE_SETTINGS.flatMap((setting) => ["--set", setting]);
  const node = await startDemoNode({ dataDir: join(dir, "data"), args });
  return { address: `${node.url} ${node.hubAddress}`, end: () => node.kill() };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
