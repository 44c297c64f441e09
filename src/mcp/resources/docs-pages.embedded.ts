import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const DOCS = join(import.meta.dir, "../../../docs");
const ENDING = ".md";

/** The pages of `docs/`, by their path there without its extension. `README` is the list of the other pages. */
export const DOCS_PAGES: Readonly<Record<string, string>> = Object.fromEntries(
  readdirSync(DOCS, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ENDING))
    .sort()
    .map((file) => [file.slice(0, -ENDING.length), readFileSync(join(DOCS, file), "utf8")]),
);
