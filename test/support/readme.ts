import { expect } from "bun:test";
import { join } from "node:path";

const text = await Bun.file(join(import.meta.dir, "../../README.md")).text();

/** The code block behind a mark of the README, as `<!-- moving: read -->`. */
export function readmeExample(mark: string): string {
  const [, example = ""] = new RegExp(`<!-- ${mark} -->\n\`\`\`\\w+\n([\\s\\S]*?)\n\`\`\``).exec(text) ?? [];
  expect(example).not.toBe("");
  return example;
}
