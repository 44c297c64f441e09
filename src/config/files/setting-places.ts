/** Where a TOML text sets a key, and what its comment says. */
export interface SettingPlace {
  /** From 1. */
  readonly line: number;
  /** The comment above it, as one text; empty without one. */
  readonly comment: string;
}

const SECTION = /^\s*\[\s*([\w-]+)\s*\]/;
const KEY = /^\s*([\w-]+)\s*=/;
const COMMENT = /^\s*#\s?(.*)$/;

/**
 * The places of the keys of a TOML text, by `section.key`. A text that is written in another way, such as with dotted keys, has fewer: it is for
 * people who look for a setting.
 */
export function settingPlaces(text: string): ReadonlyMap<string, SettingPlace> {
  const places = new Map<string, SettingPlace>();
  let section = "";
  let comment: string[] = [];
  for (const [at, line] of text.split("\n").entries()) {
    const said = COMMENT.exec(line)?.[1];
    if (said !== undefined) {
      comment.push(said.trim());
      continue;
    }
    section = SECTION.exec(line)?.[1] ?? section;
    const name = KEY.exec(line)?.[1];
    const key = `${section}.${name}`;
    if (name !== undefined && !places.has(key)) places.set(key, { line: at + 1, comment: comment.join(" ") });
    comment = [];
  }
  return places;
}
