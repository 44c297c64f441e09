import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { documents, documentText, ROOT } from "../support/documents.ts";

const text = documentText("ARCHITECTURE.md");

/** Paths such as `src/node/workers/*.worker.ts` and `src/read/queries/<topic>/` name at least one file. */
function exists(path: string): boolean {
  if (!/[*<]/.test(path)) return existsSync(join(ROOT, path));
  const pattern = path.replaceAll(/<\w+>/g, "*").replace(/\/$/, "/*");
  return [...new Glob(pattern).scanSync(ROOT)].length > 0;
}

test("documents name only files and folders that exist", () => {
  const missing = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/`((?:src|test|bench|drizzle)\/[^`\s]+)`/g)]
      .map(([, named = ""]) => named)
      // Results of the benchmarks are not in the repository.
      .filter((named) => !/^bench\/(results|\.networks)/.test(named) && !exists(named))
      .map((named) => `${path}: ${named}`),
  );
  expect(missing).toEqual([]);
});

describe("ARCHITECTURE.md", () => {
  test("has one line for each folder of src", () => {
    const [, rooms = ""] = /^## Rooms\n([\s\S]*?)\n## /m.exec(text) ?? [];
    const described = [...rooms.matchAll(/^\| `([\w-]+)` /gm)].map(([, room]) => room);
    const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(described.sort()).toEqual(folders.sort());
  });

  test("has a node in its diagram for each worker", () => {
    const [, diagram = ""] = /^## Threads and databases\n\n```mermaid\n([\s\S]*?)^```/m.exec(text) ?? [];
    for (const file of new Glob("*.worker.ts").scanSync(join(ROOT, "src/node/workers"))) {
      const name = file.replace(".worker.ts", "").replace("-", "");
      expect(diagram).toMatch(new RegExp(`^ +${name}\\[`, "m"));
    }
  });

  test("has each word of its glossary once, in alphabetical order", () => {
    const [, glossary = ""] = /^## Glossary\n([\s\S]*)/m.exec(text) ?? [];
    const words = [...glossary.matchAll(/^\| ([^|]+?) +\| /gm)].map(([, word = ""]) => word).slice(2);
    expect(words.length).toBeGreaterThan(20);
    expect(words).toEqual([...new Set(words)].sort((a, b) => a.localeCompare(b)));
  });
});
