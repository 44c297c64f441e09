import { plugin } from "bun";

/** The steps that `re2js` has taken since the last reset: turns of its loops and calls of its functions. */
export const steps = { count: 0 };

const ENTRY =
  /^\t*(?:static )?(?!if\b|else\b|switch\b|try\b|catch\b|do\b|return\b|class\b|var\b|super\b)(?:for|while|[\w$]+) \(.*\) \{$|^\t*(?:static )?(?!if\b|switch\b|catch\b|super\b)[\w$]+\(.*\) \{$|=> \{$/gm;
const BARE_LOOP = /^(\t*(?:else )?for \(.*?;.*?;.*?\)) (?!\{)(.+;)$/gm;
const COMPARED = /\.sort\(\(a, b\) => /g;

plugin({
  name: "counted re2js",
  setup(build) {
    build.onLoad({ filter: /re2js\/build\/index\.js$/ }, async ({ path }) => {
      const source = await Bun.file(path).text();
      const counted = source
        .replace(BARE_LOOP, "$1 { COUNT; $2 }")
        .replace(ENTRY, "$& COUNT;")
        .replace(COMPARED, "$&(++globalThis.re2Steps.count, 0) || ")
        .replaceAll("COUNT;", "globalThis.re2Steps.count++;");
      return { contents: counted, loader: "js" };
    });
  },
});
Object.assign(globalThis, { re2Steps: steps });
