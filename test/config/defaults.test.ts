import { expect, test } from "bun:test";
import { defaultConfigText } from "../../src/config/load.ts";
import { settings } from "../../src/config/settings/settings.ts";

interface DocumentedKey {
  readonly key: string;
  /** The comment lines right above it. */
  readonly comment: string;
}

function documentedKeys(text: string): DocumentedKey[] {
  const found: DocumentedKey[] = [];
  let section = "";
  let comment: string[] = [];
  for (const line of text.split("\n")) {
    const [, header] = /^\[(\w+)\]$/.exec(line) ?? [];
    const [, name] = /^(\w+) = /.exec(line) ?? [];
    if (line.startsWith("# ")) comment.push(line.slice(2));
    else {
      if (header !== undefined) section = header;
      else if (name !== undefined) found.push({ key: `${section}.${name}`, comment: comment.join(" ") });
      comment = [];
    }
  }
  return found;
}

const documented = documentedKeys(defaultConfigText());

test("defaults.toml holds every setting of the schema, in its order, and no other", () => {
  expect(documented.map(({ key }) => key)).toEqual(settings.map(({ key }) => key));
});

test("every setting has a comment right above it that says what it does", () => {
  expect(documented.filter(({ comment }) => comment.length < 40)).toEqual([]);
});

test("the comment of a number names its bounds as the schema has them, and the unit that its name carries", () => {
  const units: Record<string, RegExp> = { secs: /second/i, ms: /millisecond/i, hours: /hour/i };
  const commentOf = new Map(documented.map(({ key, comment }) => [key, comment]));
  const wrong = settings.filter(({ key, name, schema }) => {
    const comment = commentOf.get(key) ?? "";
    const unit = units[name.split("_").at(-1) ?? ""];
    if (unit !== undefined && !unit.test(comment)) return true;
    return schema.type === "integer" && !comment.includes(`${schema.minimum} to ${schema.maximum}`);
  });
  expect(wrong.map(({ key }) => key)).toEqual([]);
});

test("the comment of a choice names every choice", () => {
  const commentOf = new Map(documented.map(({ key, comment }) => [key, comment]));
  const choices = settings.filter(({ schema }) => Array.isArray(schema.anyOf));
  expect(choices.map(({ key }) => key)).toEqual([
    "http.proxy_header",
    "trust.level",
    "trust.roots",
    "trust.events",
    "trust.on_unknown_set",
    "trust.on_mismatch",
    "protocol.network",
    "channels.protocol_names",
    "quick_auth.algorithm",
    "feeds.for_you",
    "console.images",
    "console.status",
    "scores.mode",
    "previews.mode",
    "log.level",
    "log.format",
  ]);
  for (const { key, schema } of choices) {
    for (const { const: choice } of schema.anyOf) expect(commentOf.get(key)).toContain(`"${choice}"`);
  }
});
