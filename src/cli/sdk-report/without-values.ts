import { FORMER_METHODS, HUB_METHODS, SDK_METHODS } from "../../api/sdk-methods.ts";

/**
 * Sources have secrets in any place: in paths, in queries, in what looks like the name of a variable. So a report shows of a source
 * only words that are known beforehand, beside the names of files.
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

/** A path, with each segment that no method of the hosted API has as `…`. */
export function pathWithoutValues(path: string): string {
  return path
    .split("/")
    .map((segment) => (segment === "{}" || SEGMENTS.has(segment) ? segment : HIDDEN))
    .join("/");
}

/** What looks like the name of a variable, with each part that is not a usual word of one as `…`. */
export function nameWithoutValues(name: string): string {
  return name
    .split("_")
    .map((word) => (word === "" || NAME_WORDS.has(word) ? word : HIDDEN))
    .join("_");
}
