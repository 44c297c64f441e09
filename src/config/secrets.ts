import type { Config } from "./schema.ts";
import { type SecretKind, secretSettings } from "./secret-settings.ts";
import type { Setting } from "./settings/settings.ts";

const MASK = "***";
/** Shorter texts would also mask ordinary words in log lines. */
const MIN_SCRUBBED_CHARS = 6;

/** Masks a secret value. Scheme, host and port of a URL remain readable. */
export function maskSecret(value: unknown, kind: SecretKind): string {
  if (value === "") return "";
  if (kind === "text") return MASK;
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url === null) return MASK;
  const userinfo = url.username !== "" || url.password !== "" ? `${MASK}@` : "";
  return `${url.protocol}//${userinfo}${url.host}${pathOf(url) === "/" ? "" : `/${MASK}`}`;
}

/** Reports whether a value of a secret setting has something to hide. A URL without login and path has nothing. */
export function isSecretValue(value: unknown, kind: SecretKind): boolean {
  if (Array.isArray(value)) return value.some((item) => isSecretValue(item, kind));
  return typeof value === "string" && maskSecret(value, kind) !== value;
}

/**
 * Returns the texts to remove from logs: each secret and, for a URL, also its user, password, path and query separately, because
 * libraries quote parts of URLs. Longest first, so that a replacement never leaves a part of another text.
 */
export function secretTexts(config: Config): readonly string[] {
  const texts = new Set<string>();
  const add = (value: unknown, kind: SecretKind): void => {
    if (Array.isArray(value)) for (const item of value) add(item, kind);
    if (typeof value !== "string" || !isSecretValue(value, kind)) return;
    if (value.length < MIN_SCRUBBED_CHARS) return;
    texts.add(value);
    const url = kind === "text" ? null : URL.parse(value);
    if (url === null) return;
    texts.add(url.href);
    for (const part of kind === "database" ? [url.password] : partsOf(url)) {
      if (part.length < MIN_SCRUBBED_CHARS) continue;
      texts.add(part);
      texts.add(decoded(part));
    }
  };
  for (const setting of secretSettings) add(settingValue(config, setting), setting.secret);
  return [...texts].sort((a, b) => b.length - a.length);
}

function partsOf(url: URL): string[] {
  const { username, password, pathname, searchParams } = url;
  return [username, password, pathOf(url), ...pathname.split("/"), ...searchParams.values()];
}

function pathOf(url: URL): string {
  return `${url.pathname}${url.search}${url.hash}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns the value of a setting in a table of sections; undefined if it is missing. */
export function settingValue(table: object, { section, name }: Pick<Setting, "section" | "name">): unknown {
  const keys: unknown = Object.hasOwn(table, section) ? Reflect.get(table, section) : undefined;
  if (typeof keys !== "object" || keys === null || !Object.hasOwn(keys, name)) return undefined;
  return Reflect.get(keys, name);
}
