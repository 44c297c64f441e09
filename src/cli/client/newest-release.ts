import { isLoopbackHost } from "../../config/formats.ts";
import { UserError } from "../../lib/failure.ts";
import { exchange } from "./client.ts";

const MAX_REDIRECTS = 5;
const MAX_NOTES_CHARS = 64 * 1024;
const SUMS = "SHA256SUMS";
const NOTES = "NOTES.md";
/** The line with the software bill of materials, which every release has exactly once. */
const RELEASE = /^[0-9a-f]{64} {2}svc-(\d{1,6}\.\d{1,6}\.\d{1,6})\.cdx\.json$/m;

export interface NewestRelease {
  readonly newest: string;
  readonly isNewer: boolean;
  /** Null if the release is not newer or has none. */
  readonly notes: string | null;
}

/**
 * Reads which release is in a folder, such as `https://git.example/svc/releases/latest/download`.
 *
 * @throws UserError if the folder contains no release, RetryableError if there is no response.
 */
export async function newestRelease(folder: string, version: string): Promise<NewestRelease> {
  const sums = await textAt(folder, SUMS);
  const newest = RELEASE.exec(sums ?? "")?.[1];
  if (newest === undefined) throw new UserError(`${folder} has no release`);
  const isNewer = Bun.semver.order(newest, version) > 0;
  const notes = isNewer ? ((await textAt(folder, NOTES))?.slice(0, MAX_NOTES_CHARS) ?? null) : null;
  return { newest, isNewer, notes };
}

/** Reads a file of a folder; undefined if it is missing. Each redirect must lead to TLS again. */
async function textAt(folder: string, name: string): Promise<string | undefined> {
  let url = secureUrl(`${folder.replace(/\/+$/, "")}/${name}`);
  for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
    const { status, headers, text } = await exchange(url, {});
    const location = headers.get("location");
    if (status >= 300 && status < 400 && location !== null) {
      url = secureUrl(new URL(location, url).href);
      continue;
    }
    if (status === 404) return undefined;
    if (status !== 200) throw new UserError(`${url.origin} responded ${status}`);
    return text;
  }
  throw new UserError(`${url.origin} redirects too often`);
}

/** @throws UserError for a URL without TLS, except on this machine */
function secureUrl(text: string): URL {
  const url = URL.parse(text);
  const isLocal = url?.protocol === "http:" && isLoopbackHost(url.hostname.replace(/^\[(.*)\]$/, "$1"));
  if (url === null || (url.protocol !== "https:" && !isLocal))
    throw new UserError(`${text} is not an https URL`);
  return url;
}
