import { FORMER_METHODS, HUB_METHODS, SDK_METHODS } from "../../api/sdk-methods.ts";

/**
 * Sources may contain secrets anywhere: in paths, in queries, in text that looks like a variable name. A report therefore shows only
 * words from a source that are known beforehand, in addition to file names.
 */
const HIDDEN = "…";

const SEGMENTS: ReadonlySet<string> = new Set(
  [
    ...Object.values(SDK_METHODS),
    ...Object.values(HUB_METHODS),
    ...Object.values(FORMER_METHODS).map(({ request }) => request),
  ].flatMap((request) => request.slice(request.indexOf("/")).split("/")),
);

const NAME_WORDS: ReadonlySet<string> = new Set(
  (
    "NEYNAR API KEY KEYS APIKEY SECRET SECRETS WEBHOOK HOOK HUB CLIENT SERVER APP BOT FARCASTER SHARED SIGNING SIGNER DEFAULT ID V1 V2 V3 " +
    "DEV DEVELOPMENT TEST TESTING STAGING PREVIEW PROD PRODUCTION LOCAL NEXT PUBLIC VITE EXPO REACT NUXT PRIVATE CAST USER MY NAME"
  ).split(" "),
);

/** Returns a path, with `…` in place of each segment that no method of the hosted API has. */
export function pathWithoutValues(path: string): string {
  return path
    .split("/")
    .map((segment) => (segment === "{}" || SEGMENTS.has(segment) ? segment : HIDDEN))
    .join("/");
}

/** Returns a possible variable name, with `…` in place of each part that is not a common word in such names. */
export function nameWithoutValues(name: string): string {
  return name
    .split("_")
    .map((word) => (word === "" || NAME_WORDS.has(word) ? word : HIDDEN))
    .join("_");
}
