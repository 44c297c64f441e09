import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { inBackground } from "../../support/in-background.ts";
import { hasChromium } from "./chromium.ts";

/** False where there is no Chromium: tests in a browser are skipped. */
export const HAS_BROWSER = await hasChromium();

/** Names what this process shares, also for test files that share no modules with the one that asked first. */
const KNOWN = { browser: "SVC_TEST_BROWSER_SHARED", node: "SVC_TEST_DEMO_SHARED" } as const;

const starting: Partial<Record<keyof typeof KNOWN, Promise<string>>> = {};
let connecting: Promise<Browser> | undefined;

/** The Chromium of this process. Its locale is en-US, and each page has a context of its own. */
export function sharedBrowser(): Promise<Browser> {
  connecting ??= addressOf("browser").then((address) => chromium.connectOverCDP(address));
  return connecting;
}

/** The URL of the demo node of this process. Tests use fids of their own. */
export async function sharedNode(): Promise<string> {
  return (await nodeAddresses()).http;
}

/** The address of the hub of that node, for gRPC. */
export async function sharedHub(): Promise<string> {
  return (await nodeAddresses()).hub;
}

async function nodeAddresses() {
  const [http = "", hub = ""] = (await addressOf("node")).split(" ");
  return { http, hub };
}

function addressOf(part: keyof typeof KNOWN): Promise<string> {
  const known = process.env[KNOWN[part]];
  if (known) return Promise.resolve(known);
  starting[part] ??= start(part);
  return starting[part];
}

async function start(part: keyof typeof KNOWN): Promise<string> {
  const command = [process.execPath, join(import.meta.dir, "keeper.ts"), String(process.pid), part];
  const env = { ...process.env };
  const keeper = Bun.spawn(inBackground(command), { env, stdout: "pipe", stderr: "inherit" });
  keeper.unref();
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of keeper.stdout) {
    text += decoder.decode(chunk, { stream: true });
    if (text.endsWith("\n")) break;
  }
  const address = text.trim();
  if (address === "") throw new Error(`the ${part} of the tests did not start`);
  process.env[KNOWN[part]] = address;
  return address;
}
