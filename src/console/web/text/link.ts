const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 128;
const MAX_CODE_POINT = 0x10ffff;
/** The longest label of a domain name. */
const MAX_LABEL_CHARS = 63;

/**
 * Decodes the part of a label after `xn--` (RFC 3492, section 6.2); undefined if it is malformed.
 */
export function decodePunycode(encoded: string): string | undefined {
  if (encoded.length > MAX_LABEL_CHARS) return undefined;
  const basicEnd = Math.max(0, encoded.lastIndexOf("-"));
  const output = Array.from(encoded.slice(0, basicEnd), (character) => character.charCodeAt(0));
  if (output.some((code) => code >= INITIAL_N)) return undefined;
  let n = INITIAL_N;
  let i = 0;
  let bias = INITIAL_BIAS;
  let at = basicEnd > 0 ? basicEnd + 1 : 0;
  while (at < encoded.length) {
    const before = i;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digitOf(encoded.charCodeAt(at++));
      if (digit === undefined) return undefined;
      i += digit * weight;
      if (i > Number.MAX_SAFE_INTEGER) return undefined;
      const threshold = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = output.length + 1;
    bias = adaptBias(i - before, length, before === 0);
    n += Math.floor(i / length);
    i %= length;
    if (n > MAX_CODE_POINT || (n >= 0xd800 && n <= 0xdfff)) return undefined;
    output.splice(i++, 0, n);
  }
  return String.fromCodePoint(...output);
}

function digitOf(code: number): number | undefined {
  if (code >= 0x61 && code <= 0x7a) return code - 0x61;
  if (code >= 0x41 && code <= 0x5a) return code - 0x41;
  if (code >= 0x30 && code <= 0x39) return code - 0x30 + 26;
  return undefined;
}

function adaptBias(delta: number, length: number, isFirst: boolean): number {
  let rest = isFirst ? Math.floor(delta / DAMP) : Math.floor(delta / 2);
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}

/** The scripts that one host may use together ("highly restrictive" of Unicode TS 39); Latin stands for its plain letters here. */
const SCRIPTS_TOGETHER: readonly RegExp[] = [
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]*$/u,
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Bopomofo}]*$/u,
  /^[\p{Script=Latin}\p{Script=Han}\p{Script=Hangul}]*$/u,
  /^\p{Script=Cyrillic}*$/u,
  /^\p{Script=Greek}*$/u,
  /^\p{Script=Armenian}*$/u,
  /^\p{Script=Georgian}*$/u,
  /^\p{Script=Hebrew}*$/u,
  /^\p{Script=Arabic}*$/u,
  /^\p{Script=Thai}*$/u,
  /^[\p{Script=Devanagari}\p{M}]*$/u,
];

/** Latin letters of European languages. Others (ɑ, ı, Latin small capitals) imitate ASCII. */
const PLAIN_LATIN = /^[a-zß-öø-ÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįĵķĺļľłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷźżžșț]$/u;

/** Letters, marks and digits; a host may also have `-`, which belongs to every script. */
const HOST_CHARACTER = /^[\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}0-9-]$/u;

/**
 * Returns the host of a parsed URL as people read it. A name with foreign letters is shown as such where all of its letters are of
 * one script, and in punycode (`xn--…`) where scripts mix, so that no letter stands in for another script's.
 * @param host as `URL` has it: lower case, ASCII, perhaps with a port
 */
export function hostText(host: string): string {
  if (!host.includes("xn--")) return host;
  const [name = "", port] = host.split(":", 2);
  const labels = name
    .split(".")
    .map((label) => (label.startsWith("xn--") ? decodePunycode(label.slice(4)) : label));
  if (labels.some((label) => label === undefined)) return host;
  const decoded = labels.join(".");
  if (!isOneScript(labels.join("")) || !isSameHost(decoded, name)) return host;
  return port === undefined ? decoded : `${decoded}:${port}`;
}

function isOneScript(characters: string): boolean {
  let letters = "";
  for (const character of characters) {
    if (!HOST_CHARACTER.test(character)) return false;
    if (/\p{Script=Latin}/u.test(character) && !PLAIN_LATIN.test(character)) return false;
    if (!/[0-9-]/.test(character)) letters += character;
  }
  return SCRIPTS_TOGETHER.some((scripts) => scripts.test(letters));
}

/** Whether the parser of URLs takes a decoded name for the one that it was decoded from. */
function isSameHost(decoded: string, name: string): boolean {
  return URL.canParse(`http://${decoded}/`) && new URL(`http://${decoded}/`).hostname === name;
}

const MAX_URL_CHARS = 2048;
const MAX_REST_CHARS = 256;

/** A link as it is shown: its host in bold, then the rest of the address. Never a title that a user wrote. */
export interface Link {
  /** Absolute, `http:` or `https:`, without user name and password. */
  readonly href: string;
  readonly host: string;
  /** Path, query and fragment, decoded where that cannot deceive, cut at 256 characters; "" for the root. */
  readonly rest: string;
}

/** Reads a link; undefined for anything that is not an absolute `http` or `https` URL of at most 2,048 characters. */
export function readLink(text: string): Link | undefined {
  if (text.length > MAX_URL_CHARS || !/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  if ((url.protocol !== "https:" && url.protocol !== "http:") || url.hostname === "") return undefined;
  // "https://bank.example@evil.example/" names a host that it does not go to.
  url.username = "";
  url.password = "";
  return { href: url.href, host: hostText(url.host), rest: restOf(url) };
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

/** Whether a URL looks like a picture by its extension, so that it is offered as one. */
export function isPicture(text: string): boolean {
  const url = imageUrl(text);
  return url !== undefined && /\.(?:png|jpe?g|gif|webp|avif)$/i.test(new URL(url).pathname);
}

/** Who can open a URL: every machine, those of the same network, or the machine itself. */
type Reach = "everywhere" | "network" | "machine";

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\])$/;
/** Addresses that are not routed on the internet: RFC 1918, 3927, 4193, 4291 and 6598. */
const LOCAL_ADDRESS =
  /^(?:10\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)[\d.]+$|^\[f(?:[cd]|e[89ab])[0-9a-f]*:/;
const LOCAL_NAME = /\.(?:local|lan|internal|intranet|home|home\.arpa|test)$/;

/** Returns who can open an http or https URL, as far as its host says. */
export function reachOf(url: string): Reach {
  const host = URL.canParse(url) ? new URL(url).hostname.toLowerCase() : "";
  if (LOOPBACK.test(host)) return "machine";
  const isName = !/^[\d.]+$|^\[/.test(host);
  if (LOCAL_ADDRESS.test(host) || LOCAL_NAME.test(host) || (isName && !host.includes("."))) return "network";
  return "everywhere";
}
