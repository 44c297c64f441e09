import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const ROOT = join(import.meta.dir, "../../..");

/** The texts of the panel of a page, by the name of their tab. */
export async function pageSnippets(page: Page): Promise<ReadonlyMap<string, string>> {
  const panel = page.locator("main .api").first();
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

/** Runs snippets as they were copied, TypeScript with the packages of this project. Returns what each has as its body. */
export async function runSnippets(texts: ReadonlyMap<string, string>): Promise<Map<string, unknown>> {
  const dir = mkdtempSync(join(ROOT, "test/browser/.snippets-"));
  try {
    const bodies = await Promise.all(
      [...texts].map(async ([language, text], at) => {
        if (language === "curl") return [language, JSON.parse(await shell(text))] as const;
        const file = join(dir, `${at}.ts`);
        await Bun.write(file, `${text}\nexport { body };\n`);
        const { body } = (await import(file)) as { body: unknown };
        return [language, body] as const;
      }),
    );
    return new Map(bodies);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function shell(command: string): Promise<string> {
  const child = Bun.spawn(["sh", "-c", command], { stdout: "pipe", stderr: "ignore" });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`it failed: ${command}`);
  return text;
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
