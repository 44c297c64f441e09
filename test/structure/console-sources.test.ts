import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const WEB = join(import.meta.dir, "../../src/console/web");
const read = (path: string) => readFileSync(join(WEB, path), "utf8");
const scan = (pattern: string) => [...new Bun.Glob(pattern).scanSync(WEB)].toSorted();

/** Attributes that a person reads or listens to, with text instead of an expression. */
const READ_ATTRIBUTE = /\s(?:title|label|aria-label|placeholder|hint|note|empty)="[^"]*[A-Za-z]{2}[^"]*"/g;
/** Words between two tags of one line, or on a line of their own between the lines of tags. */
const WORDS_OF_ELEMENT =
  /<[a-z]\w*(?:\s[^<>]*)?>[^<>{}]*[A-Za-z]{2}[^<>{}]*<\/|>\n\s+[A-Z][A-Za-z’',]*(?: [\w’',.:]+)+\n\s*</g;
/** A sentence as a string: a capital, several words, a full stop. */
const SENTENCE = /(?<=["`])[A-Z][a-z]+(?: [^"`\n]+){2,}\.(?=["`])/g;
/** A word in place of a text, or a text in place of a word. */
const WORD_OR_TEXT = /\? msg\.\w+(?:\([^()]*\))? : "[^"]*[A-Za-z][^"]*"|\? "[^"]*[A-Za-z][^"]*" : msg\.\w+/g;

/** What a program reads: a command, a header, a name. */
const LITERAL = /<code>[^<]*<\/$|<kbd>/;

test("what a person reads is in text/en, so that another language is one more folder", () => {
  const found = scan("**/*.tsx").flatMap((path) =>
    [READ_ATTRIBUTE, WORDS_OF_ELEMENT, SENTENCE, WORD_OR_TEXT].flatMap((pattern) =>
      [
        ...read(path)
          .replaceAll(/\/\*[\s\S]*?\*\/|\/\/ .*/g, "")
          .matchAll(pattern),
      ]
        .map(([text]) => text.trim())
        .filter((text) => !LITERAL.test(text) && !text.startsWith("<T"))
        .map((text) => `${path}: ${text}`),
    ),
  );
  expect(found).toEqual([]);
});

test("a text of text/en is used by a page of its comment", () => {
  const pages = scan("**/*.{ts,tsx}").filter((path) => !path.startsWith("text/en/"));
  /** What the node itself writes into documents. */
  const writers = ["*.ts", "sign-in/*.ts"].flatMap((pattern) =>
    [...new Bun.Glob(pattern).scanSync(join(WEB, ".."))].map((path) => read(`../${path}`)),
  );
  const unused = scan("text/en/**/*.ts").flatMap((path) => {
    const users = path.endsWith("/documents.ts")
      ? writers
      : pages.map(read).filter((source) => source.includes(`${path}"`));
    return [...read(path).matchAll(/^export const (\w+)/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => !users.some((source) => new RegExp(`(?:\\bmsg\\.|\\(\\{ )${name}\\b`).test(source)))
      .map((name) => `${path}: ${name}`);
  });
  expect(unused).toEqual([]);
});

test("each class of the style sheets is one of a page", () => {
  const styles = scan("styles/*.css")
    .map(read)
    .join("\n")
    .replaceAll(/\/\*[\s\S]*?\*\//g, "");
  const selectors = [...styles.matchAll(/([^{}]+)\{/g)].map(([, selector = ""]) => selector);
  const classes = new Set(
    selectors
      .filter((selector) => !selector.trim().startsWith("@"))
      .flatMap((selector) => [...selector.matchAll(/\.([a-zA-Z][\w-]*)/g)].map(([, name = ""]) => name)),
  );
  const sources = [
    ...scan("**/*.{ts,tsx,html}").map(read),
    readFileSync(join(WEB, "../approve-routes.ts"), "utf8"),
  ].join("\n");
  // On a line with a class, or as a string of one word, as in `kind="go"`.
  const lines = sources.split("\n").filter((line) => /class/i.test(line));
  const words = new Set([
    ...lines.flatMap((line) => line.match(/[a-zA-Z][\w-]*/g) ?? []),
    ...[...sources.matchAll(/"([a-z][\w-]*)"/g)].map(([, word]) => word),
  ]);
  /** Those of uPlot, and those with a number: `d1` is made as `d${depth}`. */
  const isMade = (name: string) => name.startsWith("u-") || words.has(name.replace(/\d+$/, ""));
  expect([...classes].filter((name) => !words.has(name) && !isMade(name))).toEqual([]);
});
