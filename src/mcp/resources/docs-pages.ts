import { readDocs } from "./read-docs.ts" with { type: "macro" };

/**
 * The pages of `docs/` with which this program was built, by their path there without its extension. `README` is the list of the other
 * pages.
 */
export const DOCS_PAGES: Readonly<Record<string, string>> = readDocs();
