import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "playwright-core";

const ROOT = join(import.meta.dir, "../../..");

/** Opens the call of each region of a page. Returns the texts of each panel, by the name of their tab. */
export async function regionSnippets(page: Page): Promise<ReadonlyMap<string, string>[]> {
  const closed = page.locator('main [data-call-button][aria-expanded="false"]');
  for (let left = await closed.count(); left > 0; left--) await closed.first().click();
  const panels = await page.locator("main .api").all();
  return Promise.all(panels.map(panelSnippets));
}

/** The texts of the panel of a page, by the name of their tab. */
export const pageSnippets = (page: Page) => panelSnippets(page.locator("main .api").first());

async function panelSnippets(panel: Locator): Promise<ReadonlyMap<string, string>> {
  const texts = await panel.evaluate(async (element) => {
    const found: [string, string][] = [];
    for (const tab of element.querySelectorAll<HTMLElement>('[role="tab"]')) {
      tab.click();
      do await new Promise(requestAnimationFrame);
      while (tab.ariaSelected !== "true");
      found.push([tab.textContent ?? "", element.querySelector("pre")?.textContent ?? ""]);
    }
    return found;
  });
  return new Map(texts);
}

/** What the snippets of a page leave open: the fid of the user who runs them, and the custody key. */
interface Signer {
  readonly fid: number;
  readonly custodyKey: string;
}

/** Runs snippets as they were copied, TypeScript with the packages of this project. Returns what each has as its body. */
export function runSnippets(texts: ReadonlyMap<string, string>): Promise<Map<string, unknown>> {
  return inFolder(async (dir) => {
    const run = async ([language, text]: [string, string]) =>
      [language, await runOne(language, text, dir)] as const;
    return new Map(await Promise.all([...texts].map(run)));
  });
}

/**
 * Runs snippets of signed calls as they were copied: `$FID` is set, the key is in `custody.key` and in `$CUSTODY_KEY`, and `svc` is the
 * compiled program. Returns for each call what each snippet has as its body; of `svc` the printed text.
 */
export function runSignedSnippets(
  calls: readonly ReadonlyMap<string, string>[],
  { fid, custodyKey }: Signer,
): Promise<Map<string, unknown>[]> {
  return inFolder(async (dir) => {
    writeFileSync(join(dir, "custody.key"), custodyKey, { mode: 0o600 });
    const { compiledFile } = await import("../../support/compiled-program.ts");
    symlinkSync(compiledFile, join(dir, "svc"));
    const env = { FID: String(fid), CUSTODY_KEY: custodyKey };
    Object.assign(process.env, env);
    try {
      const bodies: Map<string, unknown>[] = [];
      // One after the other: an owner has one preview of a webhook at a time.
      for (const texts of calls) {
        const found = new Map<string, unknown>();
        for (const [language, text] of texts) found.set(language, await runOne(language, text, dir));
        bodies.push(found);
      }
      return bodies;
    } finally {
      for (const name of Object.keys(env)) delete process.env[name];
    }
  });
}

async function inFolder<T>(work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(ROOT, "test/browser/.snippets-"));
  // The package of the client, from its sources.
  mkdirSync(join(dir, "node_modules/@svc/client"), { recursive: true });
  const source = JSON.stringify(join(ROOT, "client/src/index.ts"));
  writeFileSync(join(dir, "node_modules/@svc/client/index.ts"), `export * from ${source};\n`);
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function runOne(language: string, text: string, dir: string): Promise<unknown> {
  if (language === "svc") return shell(text, dir);
  if (language === "curl") return JSON.parse(await shell(text, dir));
  if (language === "Python") {
    await Bun.write(join(dir, "call.py"), text);
    return JSON.parse(await shell("python3 call.py", dir));
  }
  const file = join(dir, `${crypto.randomUUID()}.ts`);
  await Bun.write(file, `${text}\nexport { body };\n`);
  const { body } = (await import(file)) as { body: unknown };
  return body;
}

async function shell(command: string, dir: string): Promise<string> {
  const child = Bun.spawn(["sh", "-c", command], {
    cwd: dir,
    env: { ...process.env, PATH: `${dir}:${process.env.PATH}` },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [text, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(`it failed: ${command}\n${errors}`);
  return text;
}

/** What names the records in a response, in their order: ids of any kind but of requests and events, and days. */
export function recordIds(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(recordIds);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    if (typeof item === "object") return recordIds(item);
    return /(?<!request|event)(^|_)(id|uuid|day)$/.test(name) && item !== null ? [String(item)] : [];
  });
}

export type IdKind = "casts" | "people" | "channels";

/**
 * The ids in a response of either dialect, in their order: of casts with the replies below them, of people, or of channels.
 */
export function idsIn(kind: IdKind, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => idsIn(kind, item));
  if (typeof value !== "object" || value === null) return [];
  const object = value as Record<string, unknown>;
  const inside = (...names: string[]) => names.flatMap((name) => idsIn(kind, object[name]));
  if (kind === "casts" && typeof object.hash === "string") return [object.hash, ...inside("direct_replies")];
  if (kind === "people" && typeof object.fid === "number" && typeof object.username === "string")
    return [String(object.fid)];
  if (kind === "channels" && typeof object.id === "string") return [object.id];
  const inner = { casts: "cast", people: "user", channels: "channel" }[kind];
  if (inner in object) return [...idsIn(kind, object[inner]), ...inside("replies")];
  return Object.entries(object).flatMap(([name, item]) => (name === "next" ? [] : idsIn(kind, item)));
}
