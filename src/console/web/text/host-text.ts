import { decodePunycode } from "./punycode.ts";

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
