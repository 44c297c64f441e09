import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const DOCS = join(import.meta.dir, "../../../docs");
const ENDING = ".md";

/** Reads the pages of `docs/`. It runs while the program is built, as a macro, so that a new page needs no line in a list. */
export function readDocs(): Record<string, string> {
  const files = readdirSync(DOCS, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ENDING))
    .sort();
  return Object.fromEntries(
    files.map((file) => [file.slice(0, -ENDING.length), readFileSync(join(DOCS, file), "utf8")]),
  );
}
