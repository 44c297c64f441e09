const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 128;
const MAX_CODE_POINT = 0x10ffff;
/** The maximum length of a label of a domain name. */
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

/** The scripts that one host may combine ("highly restrictive" of Unicode TS 39); Latin means its plain letters here. */
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
 * Returns the host of a parsed URL as people read it. A name with foreign letters is shown as such if all its letters are of one script,
 * and in punycode (`xn--…`) if scripts mix, so that no letter can imitate one of another script.
 * @param host as in `URL`: lowercase ASCII, possibly with a port
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

/** Reports whether the URL parser treats a decoded name as equal to the one it was decoded from. */
function isSameHost(decoded: string, name: string): boolean {
  return URL.canParse(`http://${decoded}/`) && new URL(`http://${decoded}/`).hostname === name;
}
