import { signal } from "@preact/signals";

/** Decodes hosts with foreign letters. It is loaded when a page has the first one; until then they are shown in punycode. */
const hostNames = signal<typeof import("./host-name.ts") | undefined>(undefined);
let areNamesWanted = false;

function shownHost(host: string): string {
  if (!host.includes("xn--")) return host;
  if (!areNamesWanted) {
    areNamesWanted = true;
    import("./host-name.ts").then(
      (names) => {
        hostNames.value = names;
      },
      () => undefined,
    );
  }
  return hostNames.value?.hostText(host) ?? host;
}

const MAX_URL_CHARS = 2048;
const MAX_REST_CHARS = 256;

/** A link as displayed: its host in bold, then the rest of the address. Never a title that a user wrote. */
export interface Link {
  /** Absolute, `http:` or `https:`, without user name and password. */
  readonly href: string;
  readonly host: string;
  /** Path, query and fragment, decoded where that cannot deceive, truncated at 256 characters; "" for the root. */
  readonly rest: string;
}

/** Reads a link; undefined for anything that is not an absolute `http` or `https` URL of at most 2,048 characters. */
export function readLink(text: string): Link | undefined {
  if (text.length > MAX_URL_CHARS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if ((url.protocol !== "https:" && url.protocol !== "http:") || url.hostname === "") return undefined;
  // "https://bank.example@evil.example/" displays a host to which it does not lead.
  url.username = "";
  url.password = "";
  return { href: url.href, host: shownHost(url.host), rest: restOf(url) };
}

function restOf({ pathname, search, hash }: URL): string {
  const rest = `${pathname}${search}${hash}`;
  if (rest === "/") return "";
  return rest.length > MAX_REST_CHARS ? `${rest.slice(0, MAX_REST_CHARS)}…` : rest;
}

/** Returns a URL that an `img` may load: `https`, and not an SVG by its extension; undefined for any other. */
export function imageUrl(text: string | null | undefined): string | undefined {
  if (!text) return undefined;
  const link = readLink(text);
  if (!link?.href.startsWith("https:")) return undefined;
  return /\.svgz?$/i.test(new URL(link.href).pathname) ? undefined : link.href;
}

/** Reports whether a URL looks like a picture by its extension, so that it is offered as one. */
export function isPicture(text: string): boolean {
  const url = imageUrl(text);
  return url !== undefined && /\.(?:png|jpe?g|gif|webp|avif)$/i.test(new URL(url).pathname);
}
