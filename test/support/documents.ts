import { expect } from "bun:test";
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");

/** A Markdown file of the project. */
export interface Document {
  /** Relative to the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** A fenced code block, with the comment directly above it. */
export interface CodeBlock {
  readonly path: string;
  readonly language: string;
  readonly code: string;
  /** The text of `<!-- … -->` on the line above; empty without one. */
  readonly mark: string;
}

/** The documents whose examples the tests run. */
const USER_DOCUMENTS = ["README.md", ...markdownIn("docs")];

export const documents: readonly Document[] = await Promise.all(
  [
    ...USER_DOCUMENTS,
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "ROADMAP.md",
    "SECURITY.md",
    "bench/README.md",
  ].map(async (path) => ({ path, text: await Bun.file(join(ROOT, path)).text() })),
);

function markdownIn(folder: string): string[] {
  return [...new Bun.Glob(`${folder}/**/*.md`).scanSync(ROOT)].sort();
}

export function documentText(path: string): string {
  return documents.find((document) => document.path === path)?.text ?? "";
}

/** The code blocks of the README and of `docs/`. */
export const codeBlocks: readonly CodeBlock[] = documents
  .filter(({ path }) => USER_DOCUMENTS.includes(path))
  .flatMap(({ path, text }) =>
    [...text.matchAll(/(?:^<!-- ([^\n]+) -->\n)?^```(\w*)\n([\s\S]*?)\n```$/gm)].map(
      ([, mark = "", language = "", code = ""]) => ({ path, language, code, mark }),
    ),
  );

/** The code of the block marked `<!-- example: name -->`. The call names the block literally, so that a test can find it. */
export function documentExample(name: string): string {
  const [block, ...others] = codeBlocks.filter(({ mark }) => mark === `example: ${name}`);
  expect([name, block?.code.length, others]).toEqual([name, expect.any(Number), []]);
  return block?.code ?? "";
}
