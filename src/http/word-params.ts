import { Type } from "@sinclair/typebox";
import { choice, type Documented, list, optional, type QueryParam, refuse, scalar } from "./params.ts";

/** Yes or no, as `true` or `false`. */
export function flag(fallback: boolean, documented?: Documented): QueryParam<boolean> {
  const param = scalar(Type.Boolean(documented), (given, name) => {
    if (given !== "true" && given !== "false") throw refuse(`${name} must be true or false`);
    return given === "true";
  });
  return optional(param, fallback);
}

/** A list of words out of a few; at least one. */
function wordList<const T extends string>(
  words: readonly T[],
  documented?: Documented,
): QueryParam<readonly T[]> {
  const { decode } = choice(words);
  const items = Type.Unsafe<T>({ type: "string", enum: [...words] });
  return list(items, (text, name) => decode([text], name), { maxItems: 100, ...documented });
}

/** Some of a few words, in the order of `words`; `fallback` where none is given. */
export function choices<const T extends string>(
  words: readonly T[],
  fallback: readonly NoInfer<T>[],
  documented?: Documented,
): QueryParam<readonly T[]> {
  const { schema, decode } = optional(wordList(words, documented), fallback);
  return {
    schema,
    required: false,
    decode(values, name) {
      const chosen = decode(values, name);
      return words.filter((word) => chosen.includes(word));
    },
  };
}

/** Some of a few words; all of them where none is given, or where the word `all` is among them. */
export function choiceList<const T extends string>(
  words: readonly T[],
  documented?: Documented,
): QueryParam<readonly T[]> {
  const given = wordList([...words, "all"], documented);
  return {
    schema: given.schema,
    required: false,
    decode(values, name) {
      if (values.every((value) => value === "")) return words;
      const chosen = given.decode(values, name);
      return chosen.includes("all") ? words : words.filter((word) => chosen.includes(word));
    },
  };
}

const DECIMAL = /^-?\d{1,9}(?:\.\d{1,20})?$/;

/** A number within a range. */
export function decimal(
  options: Documented & { readonly min: number; readonly max: number },
): QueryParam<number> {
  const { min, max, ...documented } = options;
  return scalar(Type.Number({ minimum: min, maximum: max, ...documented }), (given, name) => {
    const value = DECIMAL.test(given) ? Number(given) : Number.NaN;
    if (!(value >= min && value <= max)) throw refuse(`${name} must be a number from ${min} to ${max}`);
    return value;
  });
}
