import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const DOCS = join(import.meta.dir, "../../../docs");
const ENDING = ".md";

/** Reads the pages of `docs/`. It runs as a macro while the program is built, so a new page does not have to be listed anywhere. */
export function readDocs(): Record<string, string> {
  const files = readdirSync(DOCS, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ENDING))
    .sort();
  return Object.fromEntries(
    files.map((file) => [file.slice(0, -ENDING.length), readFileSync(join(DOCS, file), "utf8")]),
  );
}
