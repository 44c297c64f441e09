import { readDocs } from "./read-docs.ts" with { type: "macro" };

/** The pages of `docs/` by their path there without its ending, as this program was built with them. `README` is the list of the others. */
export const DOCS_PAGES: Readonly<Record<string, string>> = readDocs();
